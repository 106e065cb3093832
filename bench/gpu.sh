#!/usr/bin/env bash
# bench/gpu.sh [quick]: build for the GPU of this machine, check, time; run from the repository root.
# Needs nvcc, cmake and a GPU. The table comes last; JSON goes to $OUT, or else build/bench-gpu.
# "quick" leaves out the memory checkers and sizes above 10001.
set -euo pipefail

out=${OUT:-build/bench-gpu}
build=build/gpu-here
mkdir -p "$out" build
cmake -S . -B $build -DTW_GPU=CUDA -DTW_TESTS=OFF -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-90-real}" \
    -DCMAKE_CUDA_FLAGS=-Xptxas=-v >$build.log 2>&1 || { tail -20 $build.log; exit 1; }
cmake --build $build -j "$(nproc)" >"$out/build.log" 2>&1 || { grep -A5 error "$out/build.log"; exit 1; }
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
program() { # program NAME SOURCE: against the static library, with the internal headers
    cc -std=gnu17 -O2 -fopenmp -D_GNU_SOURCE -Iinclude -Isrc -I"$cuda/include" -o "$build/$1" "$2" \
        $build/src/libtilewright.a -L"$cuda/lib64" -lcudart_static -lm -ldl -lrt -lpthread
}
program devices tests/devices/devices.c
program bench bench/gpu.c

bad=0
$build/devices || bad=1
if [ "${1:-}" != quick ]; then
    for tool in memcheck racecheck; do
        compute-sanitizer --tool $tool --error-exitcode 3 $build/devices small >"$out/$tool.txt" || bad=1
        echo "compute-sanitizer $tool: $(tail -1 "$out/$tool.txt")"
    done
fi
nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader >"$out/machine.txt"
$build/bench ${1:+10001} >"$out/gpu.json" || bad=1
exit $bad
