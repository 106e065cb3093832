#!/usr/bin/env bash
# bench/gpu_map.sh: build for the GPU of this machine, check maps, time them, and try every f32
# argument of every function; run from the repository root. Needs nvcc, cmake and a GPU. The table
# comes last; JSON goes to $OUT, or else build/bench-gpu.
# "build" and "run" as first argument do only that part.
set -euo pipefail

out=${OUT:-build/bench-gpu}
build=build/gpu-here
ARCHITECTURES=${ARCHITECTURES:-90-real}
mkdir -p "$out" build
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
if [ "${1:-build}" = build ]; then
    cmake -S . -B $build -DTW_GPU=CUDA -DTW_TESTS=OFF \
        -DCMAKE_CUDA_ARCHITECTURES="$ARCHITECTURES" >$build.log 2>&1
    cmake --build $build -j "$(nproc)" >>$build.log 2>&1 || { grep -A5 error $build.log; exit 1; }
    mapfile -t libraries < <(bench/libraries $build)
    for name in tests/gpu/maps bench/gpu_map; do
        cc -std=gnu17 -O2 -fopenmp -D_GNU_SOURCE -Iinclude -Isrc -Itests -I"$cuda/include" \
            -o "$build/$(basename $name)" $name.c $build/src/libtilewright.a \
            -L"$cuda/lib64" -lcudart_static -lm -ldl -lrt -lpthread "${libraries[@]}"
    done
    nvcc -O3 -arch="sm_${ARCHITECTURES%-*}" -std=c++17 --fmad=false -Isrc -o $build/map_ulp bench/map_ulp.cu
fi
[ "${1:-run}" = run ] || exit 0

bad=0
$build/maps || bad=1
$build/map_ulp >"$out/map-ulp.json" || bad=1
cat "$out/map-ulp.json"
XDG_CACHE_HOME=$(mktemp -d)
export XDG_CACHE_HOME
$build/gpu_map 0 >"$out/map.json"
$build/gpu_map >>"$out/map.json" || bad=1
exit $bad
