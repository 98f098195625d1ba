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
    CC=$1 sh tools/build.sh "$build/check-$1" 'core planted meson-test-prereq' -Dwerror=true -Dlto=false
}

step 'ruff check' ruff check --quiet .
step 'ruff format' ruff format --check --quiet .
step 'mypy --strict' mypy
step 'pyright and mypy on the examples' python tools/typed_examples.py "$build/typed"
step 'imports of the package' lint-imports --no-cache --no-logo
step 'clang-format' clang_format
step 'pages against their stores' python tools/stored_pages.py
step 'pages older than a moved counter' python tools/older_pages.py
for compiler in gcc clang; do
    if command -v "$compiler" >/dev/null; then
        step "warnings as errors, $compiler" warnings "$compiler"
    else
        echo "== warnings as errors, $compiler: not installed, skipped"
    fi
done
step 'source rules' python tools/source_rules.py "$build"/check-*/libgpucoh_core.a "$build"/check-*/_core.*.p
step 'same statistics from every compiler and optimisation' sh tools/determinism.sh "$build"

if [ -n "$failed" ]; then
    printf 'make check: failed:%s\n' "$failed"
    exit 1
fi
echo 'make check: all checks passed'
