#!/usr/bin/env bash
# hardening.sh FILE...: each program or library was built with what limits a memory error: canaries,
# checked copies, relocations made and protected at the start, and a program at any address.
set -euo pipefail

failed=0
want() { # want FILE WHAT PATTERN TEXT
    grep -qE "$3" <<<"$4" || {
        echo "$1: no $2"
        failed=1
    }
}

for file in "$@"; do
    undefined=$(readelf --wide --dyn-syms "$file")
    layout=$(readelf --wide --file-header --program-headers --dynamic "$file")
    want "$file" "canaries (__stack_chk_fail)" '__stack_chk_fail' "$undefined"
    want "$file" "checked copies (__memcpy_chk and others)" '__[a-z]+_chk\b' "$undefined"
    want "$file" "position independence (DYN)" 'Type: +DYN' "$layout"
    want "$file" "relocations protected after the start (GNU_RELRO)" 'GNU_RELRO' "$layout"
    want "$file" "relocations at the start (BIND_NOW)" '\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW' "$layout"
done
exit "$failed"
