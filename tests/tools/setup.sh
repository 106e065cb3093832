#!/usr/bin/env bash
# setup.sh SOURCE: what a build does without keeps nobody from building, what it needs is named; nothing is
# installed here: apt-get, sudo, pkg-config and the compiler are stand-ins.
set -euo pipefail

source=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
    echo "setup.sh: $*" >&2
    exit 1
}
stand_in() { # stand_in NAME TEXT
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/$1"
    chmod +x "$scratch/$1"
}
export CALLS=$scratch/calls
# shellcheck disable=SC2016 # what they do when they run
{
    stand_in sudo 'while [ "$1" = -n ]; do shift; done; exec "$@"'
    stand_in apt-get 'echo "$*" >>"$CALLS"; for word; do case " $NOT_HAD update " in *" $word "*) exit 100 ;; esac; done'
    stand_in pkg-config 'for word; do case " $LACKING " in *" $word "*) exit 1 ;; esac; done'
    stand_in ninja 'case " $LACKING " in *" ninja "*) exit 1 ;; esac'
}
run() { # run LACKING NOT-HAD STATUS: what tools/setup says and how it ends
    local status=0
    : >"$CALLS"
    said=$(PATH=$scratch:$PATH LACKING=$1 NOT_HAD=$2 "$source/tools/setup" build 2>&1) || status=$?
    [ "$status" -eq "$3" ] || fail "lacking '$1' it ended with $status, not $3: $said"
}

run "libtiff-4 liblzma" "" 0
[ "$(grep -c libtiff-dev "$CALLS")" -eq 1 ] || fail "not installed at once: $(cat "$CALLS")"
run "libtiff-4 liblzma" liblzma-dev 0
grep -q "not installed: liblzma-dev\." <<<"$said" || fail "it does not say what the build lacks: $said"
grep -qx ".* libtiff-dev" "$CALLS" || fail "one that cannot be had keeps the other away: $(cat "$CALLS")"
run "liblzma ninja" liblzma-dev 0
grep -qx ".* ninja-build" "$CALLS" || fail "what is needed was not installed: $(cat "$CALLS")"
run "ninja" ninja-build 2
grep -q "could not install ninja-build\." <<<"$said" || fail "it does not say what is needed: $said"
