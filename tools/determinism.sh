#!/bin/sh
# determinism.sh COMPILER DIRECTORY ...: equal seeds give equal statistics, to the last counter, for every compiler of the
# core. A directory has the compiler's extension at -O3 (tools/check.sh); beside it another is built at -O0, and the
# outputs of tools/determinism.py are compared.
set -eu
reference=
while [ $# -gt 0 ]; do
    compiler=$1 directory=$2
    shift 2
    for level in 0 3; do
        name=$directory
        if [ "$level" = 0 ]; then
            name=$directory-O0
            CC=$compiler sh tools/build.sh "$name" core -Dbuildtype=plain
        fi
        sh tools/package_copy.sh "$name"
        PYTHONPATH=$name/package python tools/determinism.py "$name/package" >"$name/statistics.txt"
        if [ -z "$reference" ]; then
            reference=$name
        elif ! PYTHONPATH=$name/package python tools/determinism.py --compare \
            "$reference/statistics.txt" "$name/statistics.txt"; then
            echo "statistics of $name differ from those of $reference"
            exit 1
        fi
    done
done
if [ -z "$reference" ]; then
    echo 'neither gcc nor clang is installed: nothing was compared'
    exit 1
fi
