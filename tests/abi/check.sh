#!/usr/bin/env bash
# tests/abi/check.sh LIBRARY DUMP HEADERS: compare the functions and types of the shared library with
# those of the dump. A difference fails, also one that old callers survive: it is wanted, and then
# tools/renew-abi writes the dump anew, or it is not.
set -euo pipefail

library=$1 dump=$2 headers=$3
skip() {
    echo "skipped: $*"
    exit 0
}
command -v abidiff >/dev/null || skip "no abidiff (Debian: abigail-tools) is installed"
[ -e "$dump" ] || skip "there is no dump for this architecture: tools/renew-abi makes it"
readelf -SW "$library" | grep -q '\.debug_info' ||
    skip "the build has no debug information (TW_DEBUG_INFO)"

if grep -qE "='/([^u]|u[^s])" "$dump"; then
    echo "$dump says where somebody's tree lies: run tools/renew-abi" >&2
    exit 1
fi

status=0
abidiff --suppressions "$(dirname "$0")/private.suppr" --harmless --exported-interfaces-only --headers-dir1 "$headers" --headers-dir2 "$headers" \
    "$dump" "$library" || status=$?
if [ "$status" -ne 0 ]; then
    echo "the interface differs from $dump: if it is meant to, run tools/renew-abi" >&2
fi
exit "$status"
