#!/bin/sh
# build.sh DIRECTORY "TARGET ..." [meson option ...]: configure DIRECTORY, or change its options, and build the targets: `core` is the
# extension, `planted` its twin with planted bugs, `meson-test-prereq` what the C tests need. It prints what compilers and
# linkers print, such as warnings; on a failure of meson, meson's output.
set -eu
directory=$1
targets=$2
shift 2
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
# shellcheck disable=SC2086 # several targets
ninja --quiet -C "$directory" $targets
