#!/usr/bin/env bash
# demo_runs.sh SOURCE PROGRAM: the demo's commands work with this program, to the last of them.
set -euo pipefail

source=$1
program=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir built
cp "$program" built/tilewright
"$source/tools/demo" built >said
grep -q '^    distance     3340$' said || {
    echo "demo_runs.sh: the route of the demo is not the one of its seed:" >&2
    tail -n 20 said >&2
    exit 1
}
# Crossings have one number throughout, that of the file.
grep -q '^    diameter     35257, from 70 to 4831$' said || {
    echo "demo_runs.sh: the summary does not number crossings as the file does:" >&2
    grep diameter said >&2
    exit 1
}
# A sweep is told with what it saved.
! grep -q '^    plan: sweep' said || grep -Eq '^    done in .* relaxations, [0-9.]+ % of the 118 G \(n\^3\) of Floyd-Warshall$' said || {
    echo "demo_runs.sh: the demo does not say what the sweep saved:" >&2
    grep 'done in' said >&2
    exit 1
}
grep -q '^Done' said
