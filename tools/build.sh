#!/bin/sh
# build.sh DIRECTORY [meson option ...]: configure DIRECTORY, or change its options, and build. It prints what compilers and
# linkers print, such as warnings; on a failure of meson, meson's output.
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
quietly ninja -C "$directory" build.ninja # configures again after a change of meson.build
ninja --quiet -C "$directory" all meson-test-prereq
