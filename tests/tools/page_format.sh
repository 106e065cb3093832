#!/usr/bin/env bash
# page_format.sh TOOL SOURCE: tools/page-format finds C on a page that somebody has filled as if it were
# text, in a program and in a part of a table, and nothing in the same page as it is.
set -euo pipefail

tool=$1
source=$2/docs/add-a-rung.md
command -v clang-format >/dev/null || {
    echo "page_format.sh: skipped, no clang-format"
    exit 77
}
page=$(mktemp -d)/page.md
trap 'rm -rf "${page%/*}"' EXIT

fail() {
    echo "page_format.sh: $*" >&2
    exit 1
}

cp "$source" "$page"
"$tool" "$page" || fail "the page as it is differs from what clang-format makes of it"

fills() { # fills NUMBER: the block of that number becomes one line
    awk -v number="$1" '/^```/ { if (filled != "") print filled; filled = ""; inside = 0 }
        inside { sub(/^ +/, " "); filled = filled $0; next }
        { print }
        /^```c$/ && ++count == number { inside = 1 }' "$source" >"$page"
    ! "$tool" "$page" >"$page.said" || fail "block $1 on one line is let pass"
    grep -q "^--- $page:" "$page.said" || fail "it does not name the page: $(cat "$page.said")"
}
fills 1
fills 2
