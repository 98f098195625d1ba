#!/bin/sh
# demo.sh MAKE: `make demo`: install, compile and compare, two steps at a time. The seconds are those since its begin. If that
# fails with the newest packages, it is done again with the tested ones of tools/lock.txt, which LOCK=1 takes at once.
set -eu
make=$1
begin=$(date +%s)
say() {
    printf '[%2d s] %s\n' $(($(date +%s) - begin)) "$1"
}
quietly() {
    "$make" --no-print-directory --silent "$@" ${LOCK:+LOCK=1}
}
# 1: a wrong answer under a protocol that promises a memory model (no-coh promises none).
compare() {
    quietly build/.run &
    installing=$!
    status=0
    .venv/bin/gpucoh compare --out figures || status=$?
    wait "$installing" && return "$status"
}
demo() {
    [ -z "${LOCK:-}" ] || rm -f build/.build build/.compare build/.run
    say 'making .venv, installing what compiles the core' && quietly build/.build &&
        say 'compiling the core, installing what the comparison imports' && quietly -j2 quick build/.compare &&
        say 'comparing six protocols on six workloads; every result is checked; SciPy and pyarrow are installed meanwhile' &&
        compare
}

found=
compiler=${CC:+${CC%% *}} # without its options
for name in ${compiler:-cc gcc clang}; do
    ! command -v "$name" >/dev/null || found=yes
done
[ "$found" ] || {
    echo "there is no C compiler (${CC:-cc, gcc, clang}): install gcc or clang, make demo then continues" >&2
    exit 2
}
status=0
demo || status=$?
if [ "$status" != 0 ] && [ -z "${LOCK:-}" ]; then
    say 'the newest packages do not work with this gpucoh: again with the tested ones of tools/lock.txt'
    LOCK=1
    status=0
    demo || status=$?
fi
[ "$status" != 0 ] || say 'done: figures are in ./figures, the command is .venv/bin/gpucoh'
exit "$status"
