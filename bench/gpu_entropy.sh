#!/usr/bin/env bash
# bench/gpu_entropy.sh [quick]: entropy on the GPU of this machine: build, check, time; run from the
# repository root. Needs nvcc, cmake and a GPU. JSON goes to $OUT, or else build/bench-gpu; the table
# comes last. "quick" leaves out the memory checkers.
set -euo pipefail

out=${OUT:-build/bench-gpu}
build=build/gpu-here
mkdir -p "$out" build
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
cmake -S . -B $build -DTW_GPU=CUDA -DTW_TESTS=OFF \
    -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-90-real}" -DCMAKE_CUDA_FLAGS=-Xptxas=-v \
    >$build.log 2>&1 || { tail -20 $build.log; exit 1; }
cmake --build $build -j "$(nproc)" >>$build.log 2>&1 || { grep -A5 error $build.log; exit 1; }
mapfile -t libraries < <(bench/libraries $build)
for name in tests/gpu/entropies bench/gpu_entropy; do
    cc -std=gnu17 -O2 -fopenmp -D_GNU_SOURCE -Iinclude -Isrc -I"$cuda/include" \
        -o "$build/$(basename $name)" $name.c $build/src/libtilewright.a \
        -L"$cuda/lib64" -lcudart_static -lm -ldl -lrt -lpthread "${libraries[@]}"
done

bad=0
$build/entropies || bad=1
for tool in memcheck racecheck; do
    [ "${1:-}" = quick ] && break
    log=$out/$tool-entropies.txt
    compute-sanitizer --tool $tool --error-exitcode 3 $build/entropies small >"$log" || bad=1
    echo "compute-sanitizer $tool: $(tail -1 "$log")"
done
$build/gpu_entropy >"$out/gpu-entropy.json" || bad=1
exit $bad
