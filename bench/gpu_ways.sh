#!/usr/bin/env bash
# bench/gpu_ways.sh [KIND:N:DEGREE[:HEAVIEST[:TYPE]]...]: build for the GPU of this machine, then time every way that a
# plan knows for these graphs, each beside its estimate; run from the repository root. Needs nvcc, cmake and a GPU. JSON goes
# to $OUT, or else build/bench-gpu, and to stdout. Ways that are estimated to take more than $LIMIT seconds (5) are left out.
set -euo pipefail

ONLY_BUILD=1 bench/gpu_sweep.sh
out=${OUT:-build/bench-gpu}
graphs=("$@")
[ ${#graphs[@]} -gt 0 ] ||
    graphs=(sparse:4000:8 preferential:4000:5 rmat:4000:8 sparse:10000:8 preferential:10000:5 rmat:10000:8
        sparse:32768:8 preferential:32768:5 rmat:32768:8 sparse:10000:16:1:f32 sparse:65536:8)
build/gpu-here/gpu_ways cuda "${LIMIT:-5}" "${graphs[@]}" | tee "$out/gpu-ways.json"
