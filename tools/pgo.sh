#!/bin/sh
# pgo.sh DIRECTORY: build the core with GCC's profile of suite workloads (tools/pgo_train.py), and a wheel of it.
# The wheel is DIRECTORY/dist; the profile is of the same sources, so each step begins where the last one ended.
set -eu
directory=$1
export CC="${CC:-gcc}"
"$CC" --version | grep -qi 'free software foundation' || {
    echo "pgo.sh: $CC is not gcc, whose profiles this build uses: set CC" >&2
    exit 2
}
rm -rf "$directory"
echo "== building with counters"
sh tools/build.sh "$directory" core -Db_pgo=generate
sh tools/package_copy.sh "$directory"
echo "== running suite workloads"
PYTHONPATH="$directory/package" python tools/pgo_train.py
rm -rf "$directory/package"
echo "== building the wheel by their profile"
python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir "$directory/dist" . \
    "-Cbuild-dir=$directory" -Csetup-args=-Db_pgo=use
ls "$directory"/dist/*.whl
