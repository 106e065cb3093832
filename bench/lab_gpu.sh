#!/usr/bin/env bash
# bench/lab_gpu.sh FOLDER [LADDER...]: build the laboratory for the GPU of this machine and climb its
# GPU ladders and apsp-files, which has a rung for a GPU, or those named, one after another; run from
# the repository root. Each has LIMIT seconds (120 by default) and keeps its JSON in FOLDER, what was
# done so far where the time is up; its table goes to FOLDER/LADDER.txt as well. Needs cmake and nvcc,
# or hipcc with API=HIP, and a GPU. The exit status is 1 if a ladder failed or ran out of time. The
# page of tables and plots comes last, where its plotting library is here; "tilewright-lab report
# FOLDER" makes it elsewhere, too.
set -euo pipefail

folder=${1:?usage: bench/lab_gpu.sh FOLDER [LADDER...]}
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

if [ $# -eq 0 ]; then
    mapfile -t ladders < <("$lab" list | awk '/\(GPU\)/ || $1 == "apsp-files" { print $1 }')
else
    ladders=("$@")
fi
bad=0
for ladder in "${ladders[@]}"; do
    begun=$SECONDS
    status=0
    # An interrupt, as from Ctrl-C, so that what is done is kept; a kill for what does not stop.
    timeout -s INT -k 20 "$limit" "$lab" run "$ladder" --no-progress --out "$folder" \
        2>&1 | tee "$folder/$ladder.txt" || status=$?
    echo "lab_gpu: $ladder: exit $status after $((SECONDS - begun)) s"
    [ "$status" -eq 0 ] || bad=1
done
"$lab" report "$folder" || echo "lab_gpu: no page was made of $folder"
exit $bad
