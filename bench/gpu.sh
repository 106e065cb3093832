#!/usr/bin/env bash
# bench/gpu.sh [quick]: build for the GPU of this machine, check, time; run from the repository root.
# Needs nvcc, cmake and a GPU. The table comes last; JSON goes to $OUT, or else build/bench-gpu.
# "quick" leaves out the memory checkers and sizes above 10001.
set -euo pipefail

out=${OUT:-build/bench-gpu}
build=build/gpu-here
old=build/gpu-without-engine
speaking=build/gpu-every-arrival
mkdir -p "$out" build
cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
compile() { # compile FOLDER ARCHITECTURES [FLAG]: the library, and the programs against it
    cmake -S . -B "$1" -DTW_GPU=CUDA -DTW_TESTS=OFF -DCMAKE_CUDA_ARCHITECTURES="$2" \
        -DCMAKE_CUDA_FLAGS="-Xptxas=-v ${3:-}" >"$1.log" 2>&1 || { tail -20 "$1.log"; exit 1; }
    cmake --build "$1" -j "$(nproc)" >>"$1.log" 2>&1 || { grep -A5 error "$1.log"; exit 1; }
    mapfile -t libraries < <(bench/libraries "$1")
    for name in tests/gpu/devices tests/gpu/hosts tests/gpu/runs tests/gpu/checkpoints bench/gpu bench/gpu_host; do
        cc -std=gnu17 -O2 -fopenmp -D_GNU_SOURCE -Iinclude -Isrc -I"$cuda/include" \
            -o "$1/$(basename $name)" $name.c "$1/src/libtilewright.a" \
            -L"$cuda/lib64" -lcudart_static -lm -ldl -lrt -lpthread "${libraries[@]}"
    done
}
compile $build "${ARCHITECTURES:-90-real}"
cp $build.log "$out/build.log"
if [ "${1:-}" != quick ]; then
    compile $old 80-virtual
    compile $speaking "${ARCHITECTURES:-90-real}" -DTWI_EVERY_ARRIVAL
fi

bad=0
$build/devices || bad=1
$build/hosts || bad=1
$build/runs || bad=1
$build/checkpoints || bad=1
check() { # check TOOL PROGRAM [SIZES]
    log=$out/$1-$(basename "$2")-${3:-small}.txt
    compute-sanitizer --tool "$1" --error-exitcode 3 "$2" "${3:-small}" >"$log" || bad=1
    echo "compute-sanitizer $1 $(basename "$2"): $(tail -1 "$log")"
}
racecheck() { # racecheck PROGRAM
    name=$(basename "$(dirname "$1")")-$(basename "$1")
    racing=()
    for part in 0 1 2 3 4 5 6 7; do
        compute-sanitizer --tool racecheck --error-exitcode 3 "$1" tiny $part 8 \
            >"$out/racecheck-$name-$part.txt" &
        racing+=($!)
    done
    for part in 0 1 2 3 4 5 6 7; do
        wait "${racing[part]}" || bad=1
        echo "compute-sanitizer racecheck $name, part $part of 8: $(tail -1 "$out/racecheck-$name-$part.txt")"
    done
}
if [ "${1:-}" != quick ]; then
    check memcheck $build/devices
    check memcheck $build/devices middle
    check memcheck $build/hosts
    check synccheck $build/devices
    # racecheck follows the barriers of the copy engine from thread to thread only (product.cuh),
    # so it is given code in which every thread uses them, and code without a copy engine.
    # It is slow: each in eight runs of an eighth of the cases, side by side.
    racecheck $speaking/devices
    racecheck $speaking/hosts
    racecheck $old/devices
    racecheck $old/hosts
fi
nvidia-smi --query-gpu=name,driver_version,clocks.sm --format=csv,noheader >"$out/machine.txt"
$build/gpu ${1:+10001} >"$out/gpu.json" || bad=1
# A matrix in host memory: several devices, and out of core.
$build/gpu_host "$([ "${1:-}" = quick ] && echo 8192 || echo 32768)" >"$out/gpu-host.json" || bad=1
if [ "${1:-}" != quick ]; then
    $build/src/cli/tilewright bench apsp --device cuda --json >"$out/bench-apsp.json" || bad=1
fi
bench/file_to_file.py $build/src/cli/tilewright --devices "cuda;auto" --json "$out/file-to-file.json" || bad=1
exit $bad
