#!/bin/sh
# check.sh: `make check`. Run every check, name those that failed at the end, and fail if any did. Tools come from PATH.
set -u
build=${BUILD:-build}
failed=

step() {
    name=$1
    shift
    printf '== %s\n' "$name"
    "$@" || failed="$failed
  $name"
}

sources() {
    find csrc -name '*.[ch]' | sort
}

clang_format() {
    sources | xargs clang-format --dry-run -Werror
}

# Warnings are errors, with every available compiler: gcc and clang in CI.
warnings() {
    CC=$1 sh tools/build.sh "$2" 'core planted meson-test-prereq' -Dwerror=true -Dlto=false
}

step 'ruff check' ruff check --quiet .
step 'ruff format' ruff format --check --quiet .
step 'mypy --strict' mypy
step 'calls in tests and tools' mypy --config-file tools/calls.ini
step 'pyright and mypy on the examples' python tools/typed_examples.py "$build/typed"
step 'imports of the package' lint-imports --no-cache --no-logo
step 'clang-format' clang_format
step 'pages against their stores' python tools/stored_pages.py
step 'pages older than a moved counter' python tools/older_pages.py
builds= objects=
for compiler in gcc clang; do
    if command -v "$compiler" >/dev/null; then
        directory=$build/check-$compiler
        # In CI the build that all parts use has warnings as errors (Makefile).
        [ -z "${CI:-}" ] || [ "$compiler" != "${CC:-}" ] || directory=$build/quick
        builds="$builds $compiler $directory" objects="$objects $directory/libgpucoh_core.a $directory/_core.*.p"
        step "warnings as errors, $compiler" warnings "$compiler" "$directory"
    else
        echo "== warnings as errors, $compiler: not installed, skipped"
    fi
done
# shellcheck disable=SC2086 # several words
step 'source rules' python tools/source_rules.py $objects
# shellcheck disable=SC2086
step 'same statistics from every compiler and optimisation' sh tools/determinism.sh $builds

if [ -n "$failed" ]; then
    printf 'make check: failed:%s\n' "$failed"
    exit 1
fi
echo 'make check: all checks passed'
