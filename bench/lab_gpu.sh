#!/usr/bin/env bash
# bench/lab_gpu.sh FOLDER [RUN...]: build the laboratory for the GPU of this machine and climb its GPU
# ladders and apsp-files, which has a rung for a GPU, or the runs named, one after another; run from the
# repository root. A run is a ladder, with options of "tilewright-lab run" if it is one word to the
# shell: 'apsp-gpu --n 12000 --rungs coarse,unrolled'; "published" stands for the sizes of the write-ups
# that no default run has, about 5 minutes of an H200. Each has LIMIT seconds (120 by default) and adds to the JSON in
# FOLDER, what was done so far where the time is up; its table goes to FOLDER/LADDER.txt as well. Needs
# cmake and nvcc, or hipcc with API=HIP, and a GPU. The exit status is 1 if a run failed or ran out of
# time. The page of tables and plots comes last, where its plotting library is here; "tilewright-lab
# report FOLDER" makes it elsewhere, too.
set -euo pipefail

folder=${1:?usage: bench/lab_gpu.sh FOLDER [RUN...]}
shift
limit=${LIMIT:-120}
api=${API:-CUDA}
build=build/gpu-here
[ "$api" = CUDA ] || build=build/gpu-here-$api
mkdir -p "$folder" build
cmake -S . -B "$build" -DTW_GPU="$api" -DTW_TESTS=OFF \
    -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-90-real}" -DCMAKE_CUDA_FLAGS=-Xptxas=-v \
    >"$build.log" 2>&1 ||
    { tail -20 "$build.log"; exit 1; }
cmake --build "$build" -j "$(nproc)" --target tilewright-lab >>"$build.log" 2>&1 ||
    { grep -A5 -i error "$build.log"; exit 1; }
lab=$build/lab/tilewright-lab

rungs_c=naive,stages,merged-branches,merged-unrolled,no-barrier,registers,two-tiles,hoisted,known-side
rungs_c=$rungs_c,tiles-1,tiles-2,tiles-4,tiles-6,chosen
rungs_b5=grid-1d,grid,padded,coalesced,conflicts,no-conflicts,larger-block,more-threads,coarse,unrolled
published=("apsp-gpu --repeat 3 --n 2500,7500,10000 --rungs $rungs_c"
    "apsp-gpu --repeat 3 --n 12000 --rungs $rungs_b5"
    "apsp-files --n 28911 --rungs gpu --repeat 2"
    "apsp-scatter --n 30000 --repeat 2"
    "apsp-multi --published --repeat 1"
    "apsp-devices-weak --published --repeat 2 --rungs devices-1,devices-2")

runs=()
for word in "$@"; do
    if [ "$word" = published ]; then
        runs+=("${published[@]}")
    else
        runs+=("$word")
    fi
done
if [ $# -eq 0 ]; then
    mapfile -t runs < <("$lab" list | awk '/\(GPU\)/ || $1 == "apsp-files" { print $1 }')
fi
bad=0
for run in "${runs[@]}"; do
    begun=$SECONDS
    status=0
    read -ra words <<<"$run"
    # An interrupt, as from Ctrl-C, so that what is done is kept; a kill for what does not stop.
    timeout -s INT -k 20 "$limit" "$lab" run "${words[@]}" --no-progress --out "$folder" \
        2>&1 | tee -a "$folder/${words[0]}.txt" || status=$?
    echo "lab_gpu: $run: exit $status after $((SECONDS - begun)) s"
    [ "$status" -eq 0 ] || bad=1
done
"$lab" report "$folder" || echo "lab_gpu: no page was made of $folder"
exit $bad
