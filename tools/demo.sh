#!/bin/sh
# demo.sh MAKE: `make demo`: install, compile and compare, two steps at a time. The seconds are those since its begin.
set -eu
make=$1
begin=$(date +%s)
say() {
    printf '[%2d s] %s\n' $(($(date +%s) - begin)) "$1"
}
quietly() {
    "$make" --no-print-directory --silent "$@"
}

say 'making .venv, installing what compiles the core'
quietly build/.build
say 'compiling the core, installing what the comparison imports'
quietly -j2 quick build/.compare
say 'comparing six protocols on six workloads; every result is checked; SciPy and pyarrow are installed meanwhile'
quietly build/.run &
installing=$!
status=0
.venv/bin/gpucoh compare --out figures || status=$?
wait "$installing"
say 'done: figures are in ./figures, the command is .venv/bin/gpucoh'
# 1: a wrong answer under a protocol that promises a memory model (no-coh promises none).
exit "$status"
