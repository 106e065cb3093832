#!/usr/bin/env bash
# bench/gpu_bits.sh: hop distances and reachability on the GPU of this machine: build, check, time; run from
# the repository root. Needs nvcc, cmake and a GPU. JSON goes to $OUT, or else build/bench-bits.
set -euo pipefail

out=${OUT:-build/bench-bits}
build=build/gpu-bits
mkdir -p "$out" build
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
cmake -S . -B $build -DTW_GPU=CUDA -DTW_TESTS=OFF -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-90-real}" \
    >$build.log 2>&1 || { tail -20 $build.log; exit 1; }
cmake --build $build -j "$(nproc)" --target tilewright >>$build.log 2>&1 || { grep -A5 error $build.log; exit 1; }
mapfile -t libraries < <(bench/libraries $build)
for name in tests/gpu/searches bench/gpu_hops bench/gpu_reach; do
    cc -std=gnu17 -O2 -fopenmp -D_GNU_SOURCE -Iinclude -Isrc -I"$cuda/include" -o "$build/$(basename $name)" $name.c \
        $build/src/libtilewright.a -L"$cuda/lib64" -lcudart_static -lm -ldl -lrt -lpthread "${libraries[@]}"
done
nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader >"$out/machine.txt"

bad=0
$build/searches || bad=1
$build/gpu_hops >"$out/gpu-hops.json" || bad=1
$build/gpu_reach >"$out/gpu-reach.json" || bad=1
tilewright=$build/src/cli/tilewright
# From file to summary, process and driver included; the first time the page cache fills.
$tilewright generate graph sparse $build/sparse.bin --vertices 65536 --degree 16 --weights 1:1 -q
for i in 1 2 3; do
    began=$EPOCHREALTIME
    $tilewright apsp $build/sparse.bin --device cuda --method bfs --json >"$out/file-to-summary-$i.json" || bad=1
    echo "file to summary, n=65536, degree 16: $(awk "BEGIN { print $EPOCHREALTIME - $began }") s"
done
$tilewright apsp $build/sparse.bin --method bfs --device cuda --sources 0-3000 --verify=8 --summary -q || bad=1
$tilewright apsp $build/sparse.bin --explain
exit $bad
