#!/usr/bin/env bash
# demo.sh SOURCE: the demo runs on the CPU, and on a card too where there are one and a compiler for it.
# Nothing is built here: cmake, nvcc, nvidia-smi and the command itself are stand-ins that write down how
# they were called.
set -euo pipefail

source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "demo.sh: $*" >&2
    exit 1
}

mkdir -p "$scratch/bin" "$scratch/tree/build"
cp -r "$source/tools" "$scratch/tree"
cd "$scratch/tree"
export CALLS=$scratch/calls

stand_in() { # stand_in FILE TEXT
    printf '#!/bin/sh\n%s\n' "$2" >"$1"
    chmod +x "$1"
}
# shellcheck disable=SC2016 # what they do when they run
{
    stand_in "$scratch/command" 'echo "tilewright $*" >>"$CALLS"'
    stand_in "$scratch/bin/cmake" 'echo "cmake $*" >>"$CALLS"
if [ "$1" = --build ]; then mkdir -p "$2/src/cli" && cp "'"$scratch"'/command" "$2/src/cli/tilewright"; fi'
    stand_in "$scratch/bin/nvcc" 'exit 0'
    card='case $* in *compute_cap*) echo 9.0 && echo 8.0 ;; *) echo "NVIDIA H200" && echo "another" ;; esac'
}
run() { # run DEMO...: with the stand-ins first on the path
    : >"$CALLS"
    said=$(PATH=$scratch/bin:$PATH "$@" 2>&1) || fail "$* failed: $said"
}

mkdir -p build/release
cp "$scratch/command" build/release/tilewright
run tools/demo build/release
[ "$(grep -c '^tilewright ' "$CALLS")" -eq 5 ] || fail "the demo has not five commands: $(cat "$CALLS")"
! grep -q -- --device "$CALLS" || fail "the demo names a device"

# No card, or a driver that does not answer: nothing happens, and nothing is said.
stand_in "$scratch/bin/nvidia-smi" 'echo "NVIDIA-SMI has failed"; exit 9'
run tools/demo-gpu
[ -z "$said$(cat "$CALLS")" ] || fail "without a card: $said $(cat "$CALLS")"
stand_in "$scratch/bin/nvidia-smi" 'echo "No devices were found"'
run tools/demo-gpu
[ -z "$said$(cat "$CALLS")" ] || fail "without a device: $said $(cat "$CALLS")"

stand_in "$scratch/bin/nvidia-smi" "$card"
run tools/demo-gpu
grep -q '^cmake --preset cuda .*-DCMAKE_CUDA_ARCHITECTURES=90-real ' "$CALLS" || fail "not built for the card: $(cat "$CALLS")"
grep -q "NVIDIA H200" <<<"$said" || fail "the card is not named: $said"
[ "$(grep -c '^tilewright apsp .*--device cuda' "$CALLS")" -eq 2 ] || fail "not run on the card: $(cat "$CALLS")"
[ -d build/demo-cuda ] || fail "no folder of its own"

# A toolkit beside the path is found, and that there is none is said.
mkdir -p "$scratch/toolkit/bin" "$scratch/few"
mv "$scratch/bin/nvcc" "$scratch/toolkit/bin"
for tool in bash sh env dirname mkdir tail tr nproc cp cat find head sed grep rm mktemp sort; do
    ln -s "$(command -v "$tool")" "$scratch/few/$tool"
done
: >"$CALLS"
said=$(CUDA_HOME=$scratch/toolkit PATH=$scratch/bin:$scratch/few tools/demo-gpu 2>&1) || fail "with CUDA_HOME: $said"
grep -q '^cmake --preset cuda ' "$CALLS" || fail "the toolkit of CUDA_HOME is not found: $said"
if [ ! -e /usr/local/cuda/bin/nvcc ]; then
    said=$(PATH=$scratch/bin:$scratch/few tools/demo-gpu 2>&1) || fail "without nvcc: $said"
    grep -q "but no nvcc" <<<"$said" || fail "that nvcc is missing is not said: $said"
fi
mv "$scratch/toolkit/bin/nvcc" "$scratch/bin"

# A toolkit that cannot build it is told; one that builds what does not run fails.
stand_in "$scratch/bin/cmake" 'echo "unsupported compiler"; exit 1'
run tools/demo-gpu
grep -q "unsupported compiler" <<<"$said" || fail "a failed build is not told: $said"
stand_in "$scratch/command" 'echo no kernel image; exit 2'
# shellcheck disable=SC2016
stand_in "$scratch/bin/cmake" 'if [ "$1" = --build ]; then cp "'"$scratch"'/command" "$2/src/cli/tilewright"; fi'
! PATH=$scratch/bin:$PATH tools/demo-gpu >/dev/null 2>&1 || fail "a run that failed passes"
