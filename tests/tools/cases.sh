#!/usr/bin/env bash
# cases.sh PYTHON RUN: tests/cli/run.py runs every case, and under an emulator a part of each file,
# spread over it, which it counts; what fails in that part fails the test.
set -euo pipefail

python=$1
run=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "cases.sh: $*" >&2
    exit 1
}

write() { # FILE COUNT: cases that say their number
    for i in $(seq "$2"); do
        printf '== case %d\n$ echo %d\n> %d\n\n' "$i" "$i" "$i"
    done >"$folder/$1.cases"
}

said() { # SIZES FILE...
    local sizes=$1
    shift
    (cd "$folder" && TW_TEST_SMALL=$sizes "$python" "$run" true "$@" | tail -1)
}

write few 3
write some 11
write many 38
[ "$(said "" many.cases)" = "38 of 38 cases passed" ] || fail "not all cases: $(said "" many.cases)"
[ "$(said 1 many.cases)" = "38 of 38 cases passed" ] || fail "a slower build runs all of them"
[ "$(said emulated few.cases)" = "3 of 3 cases passed" ] || fail "few cases are all run"
[ "$(said emulated some.cases)" = "5 of 5 cases passed, 6 left out under the emulator" ] ||
    fail "five at least: $(said emulated some.cases)"
[ "$(said emulated some.cases many.cases)" = "11 of 11 cases passed, 38 left out under the emulator" ] ||
    fail "a part of each file: $(said emulated some.cases many.cases)"
sed -i 's/^> 1$/> one/' "$folder/many.cases"
! said emulated many.cases >"$folder/out" || fail "a case of the part that fails is let pass"
grep -q '^5 of 6 cases passed, 32 left out under the emulator$' "$folder/out" ||
    fail "a failure is not counted: $(cat "$folder/out")"
