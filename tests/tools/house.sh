#!/usr/bin/env bash
# house.sh HOUSE SOURCE: tools/house must find what is planted into a copy of a part of the tree, and
# nothing in the copy as it is.
set -euo pipefail

house=$1
source=$2
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

fail() {
    echo "house.sh: $*" >&2
    exit 1
}

copy() {
    rm -rf "$tree/src"
    mkdir "$tree/src"
    cp -r "$source/src/base" "$source/src/graph" "$tree/src"
}

include() { # include FILE HEADER: before whatever the file has; HEADER may have its <>
    mkdir -p "$(dirname "$tree/$1")"
    touch "$tree/$1"
    case $2 in
    "<"*) printf '#include %s\n%s\n' "$2" "$(cat "$tree/$1")" >"$tree/$1.new" ;;
    *) printf '#include "%s"\n%s\n' "$2" "$(cat "$tree/$1")" >"$tree/$1.new" ;;
    esac
    mv "$tree/$1.new" "$tree/$1"
}

finds() { # finds SENTENCE...: these, and an exit status that says so
    local said
    said=$("$house" "$tree" 2>&1) && fail "nothing found, and there is: $*"
    for sentence in "$@"; do
        grep -qF "$sentence" <<<"$said" || fail "not found: $sentence"$'\n'"but: $said"
    done
    copy
}

copy
"$house" "$tree" || fail "the copy as it is breaks the plan"

include src/base/clock.h base/context.h
finds "a circle of files: src/base/clock -> src/base/context -> src/base/clock"

# The compiler finds it by either bracket.
include src/base/random.h "<graph/graph.h>"
include src/base/random.h "<no/header/of/ours.h>"
finds "src/base/random.h includes graph/graph.h: src/base may not see src/graph"

# No header includes the other here: each file calls what the other defines.
include src/graph/one.c graph/two.h
include src/graph/two.c graph/one.h
touch "$tree/src/graph/one.h" "$tree/src/graph/two.h"
finds "a circle of files: src/graph/one -> src/graph/two -> src/graph/one"

include src/base/random.h graph/graph.h
finds "src/base/random.h includes graph/graph.h: src/base may not see src/graph" \
    "a circle of folders: src/base -> src/graph -> src/base" \
    "    src/base/random.h includes graph/graph.h"

# A wing is a folder apart from its rooms.
include src/base/matrix.h base/simd/simd.h
include src/base/simd/simd.h base/isa.h
finds "src/base/matrix.h includes base/simd/simd.h: src/base may not see src/base/simd" \
    "a circle of folders: src/base -> src/base/simd -> src/base"

include src/graph/build.c graph/gone.h
finds "src/graph/build.c includes graph/gone.h, which is not there"

include src/attic/old.c base/clock.h
finds "src/attic/old.c: src/attic is not in the plan"

printf 'int f(tw_sink *s) { return s->end(s->self, 0); }\n' >"$tree/src/graph/driver.c"
finds "src/graph/driver.c calls a sink's functions"
printf 'int f(tw_sink *s) { void *me = s->self; return s->end(me, 0); }\n' >"$tree/src/graph/driver.c"
finds "src/graph/driver.c calls a sink's functions"

# What a folder below declares and calls, and one above defines, depends upwards all the same.
printf 'int twi_below(void);\nint twi_above(void);\n' >"$tree/src/base/below.h"
printf '#include "base/below.h"\nint twi_below(void)\n{\n    return twi_above();\n}\n' >"$tree/src/base/below.c"
printf '#include "base/below.h"\nint twi_above(void)\n{\n    return 1;\n}\n' >"$tree/src/graph/above.c"
finds "src/base/below.c calls twi_above of src/graph/above.c: src/base may not see src/graph" \
    "a circle of files: src/base/below -> src/graph/above -> src/base/below" \
    "a circle of folders: src/base -> src/graph -> src/base"

printf '#define CLOCK "graph/graph.h"\n#include CLOCK\n' >"$tree/src/base/hidden.c"
finds "src/base/hidden.c includes what the macro CLOCK says"
