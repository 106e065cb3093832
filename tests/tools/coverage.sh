#!/usr/bin/env bash
# coverage.sh TOOL CC: tools/coverage counts the lines that ran, and ends as the tests did. Its tests
# are a stand-in here, and its library is one file of two lines, of which one runs.
set -euo pipefail

tool=$1
cc=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
mkdir -p tools src build/coverage/src
cat >src/half.c <<'END'
int main(int argc, char **argv)
{
    if (argc > 1) {
        return argv[1][0];
    }
    return 0;
}
END
compile() { # compile SOURCE, as the build names it
    rm -f build/coverage/src/*
    (cd build/coverage && "$cc" --coverage "$1" -o src/half)
}

check() { # check STATUS: the tests end with it, and so must the tool
    local status=0
    cat >tools/run-tests <<END
#!/bin/sh
build/coverage/src/half
echo "1 passed, $1 failed, 0 skipped"
exit $1
END
    chmod +x tools/run-tests
    "$tool" build/coverage >said || status=$?
    if [ "$status" -ne "$1" ] || ! grep -q '3 of *4  the library' said; then
        echo "the tests ended with $1, tools/coverage with $status, and it said"
        cat said
        exit 1
    fi
}
compile "$scratch/src/half.c"
check 0
check 1
compile ../../src/half.c # as behind a compiler cache
check 0
echo "ok"
