#!/usr/bin/env bash
# bench/gpu_sweep.sh [SIDE...]: build for the GPU of this machine, check and time sweeps of grids; run from the
# repository root. Needs nvcc, cmake and a GPU. JSON goes to $OUT, or else build/bench-gpu, and to stdout.
set -euo pipefail

out=${OUT:-build/bench-gpu}
build=build/gpu-here
mkdir -p "$out" build
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
cmake -S . -B $build -DTW_GPU=CUDA -DTW_TESTS=OFF -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-90-real}" \
    >$build.log 2>&1 || { tail -20 $build.log; exit 1; }
cmake --build $build -j "$(nproc)" --target tilewright_static tilewright >>$build.log 2>&1 ||
    { grep -A5 error $build.log; exit 1; }
mapfile -t libraries < <(bench/libraries $build)
for name in bench/gpu_sweep bench/gpu_ways tests/gpu/runs tests/gpu/searches; do
    cc -std=gnu17 -O2 -fopenmp -D_GNU_SOURCE -Iinclude -Isrc -Itests -I"$cuda/include" \
        -o "$build/$(basename $name)" $name.c $build/src/libtilewright.a \
        -L"$cuda/lib64" -lcudart_static -lm -ldl -lrt -lpthread "${libraries[@]}"
done
[ -n "${ONLY_BUILD:-}" ] && exit 0

sides=("$@")
[ ${#sides[@]} -gt 0 ] || sides=(64 100 200 512)
$build/gpu_sweep cuda "${sides[@]}" | tee "$out/gpu-sweep.json"
