#!/usr/bin/env bash
# bench/gpu_calls.sh [FOLDER...]: calls on host arrays in a warm context, on the GPU of this machine: build this tree and, to
# compare, those in other folders, time them in turns; run from the repository root. Needs nvcc, cmake and a GPU. JSON goes to
# $OUT, or else build/bench-gpu; the table comes last.
set -euo pipefail

out=${OUT:-build/bench-gpu}
mkdir -p "$out" build
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
for tree in . "$@"; do
    build=$tree/build/gpu-here
    mkdir -p "$tree/build"
    cmake -S "$tree" -B "$build" -DTW_GPU=CUDA -DTW_TESTS=OFF \
        -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-90-real}" >"$build.log" 2>&1 || { tail -20 "$build.log"; exit 1; }
    cmake --build "$build" -j "$(nproc)" >>"$build.log" 2>&1 || { grep -A5 error "$build.log"; exit 1; }
    mapfile -t libraries < <(bench/libraries "$build")
    cc -std=gnu17 -O2 -fopenmp -D_GNU_SOURCE -I"$tree/include" -I"$tree/src" -I"$cuda/include" -o "$build/gpu_calls" \
        bench/gpu_calls.c "$build/src/libtilewright.a" -L"$cuda/lib64" -lcudart_static -lm -ldl -lrt -lpthread "${libraries[@]}"
done
for tree in "$@" .; do
    "$tree/build/gpu-here/gpu_calls" "$(basename "$(readlink -f "$tree")")" both >>"$out/calls.json"
done
