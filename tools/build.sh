#!/bin/sh
# build.sh DIRECTORY [meson option ...]: configure DIRECTORY, or change its options, and build. Silent unless it fails.
set -eu
directory=$1
shift
mkdir -p "$directory"
log=$directory/build.log
quietly() {
    "$@" >"$log" 2>&1 || {
        cat "$log" >&2
        return 1
    }
}
if [ -f "$directory/build.ninja" ]; then
    [ $# -eq 0 ] || quietly meson configure "$directory" "$@"
else
    quietly meson setup "$directory" "$@"
fi
quietly ninja -C "$directory" all meson-test-prereq
