#!/bin/sh
# determinism.sh BUILD: equal seeds give equal statistics, to the last counter, for every compiler of the core. Builds
# the extension with every available compiler at -O0 and -O3 and compares the output of tools/determinism.py.
set -eu
build=$1
reference=
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    for level in 0 3; do
        name=$build/same-$compiler-O$level
        CC=$compiler sh tools/build.sh "$name" core -Dbuildtype=plain -Doptimization="$level"
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
