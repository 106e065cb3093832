#!/usr/bin/env bash
# bench/entropy.sh BUILD FOLDER NAME: the figures of local entropy on this machine, best measured
# while it does nothing else. Writes FOLDER/NAME-bench-entropy.json (windows and threads beside a
# copy in memory) and FOLDER/NAME-entropy-peers.{json,md} (beside the peers that are installed; see
# make bench-setup). About two minutes.
set -euo pipefail

build=$1 folder=$2 name=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$build/src/cli/tilewright" bench entropy --repeat "${REPEAT:-9}" --json >"$work/bench.json"
"$here/peers.py" --build "$build" --case entropy --repeat "${REPEAT:-5}" --out "$work"
mkdir -p "$folder"
mv "$work/bench.json" "$folder/$name-bench-entropy.json"
mv "$work/peers.json" "$folder/$name-entropy-peers.json"
mv "$work/peers.md" "$folder/$name-entropy-peers.md"
