"""Tests that compile CUDA: ``gpucoh cuda`` in a process of its own, and the mark of tests that need the compilers."""

import subprocess
import sys
from pathlib import Path

import pytest

import gpucoh
from gpucoh.cuda import compiler


def missing() -> str:
    """Why these tests cannot run; empty: they can."""
    try:
        compiler.toolkit()
        compiler.host_compiler()
    except gpucoh.ConfigError as error:
        return str(error)
    return ""


needs_nvcc = pytest.mark.skipif(bool(missing()), reason=missing())


def cuda(
    *words: object, folder: Path | None = None, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """``gpucoh cuda`` in a process of its own, which reads the text."""
    return subprocess.run(
        [sys.executable, "-m", "gpucoh", "cuda", *map(str, words)],
        capture_output=True, text=True, cwd=folder, input=text, check=False, timeout=110,
    )  # fmt: skip
