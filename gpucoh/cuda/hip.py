"""HIP programs: HIP's headers for CUDA's compiler, by the rule that a name of CUDA's runtime is HIP's."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from gpucoh.base.caches import cache_folder
from gpucoh.base.errors import ConfigError
from gpucoh.cuda.compiler import Toolkit, dependencies, key_of, run

__all__ = ["SUFFIX", "language", "name_of", "options"]

#: The suffix of HIP's sources; others are C++ of HIP where the program is one of HIP.
SUFFIX = ".hip"
_FOLDER = Path(__file__).parent
_CXX = (SUFFIX, ".cu", ".cpp", ".cc", ".cxx")
# HIP's headers, each with what it has besides hip.h.
_HEADERS = {
    "hip/hip_runtime.h": "",
    "hip/hip_runtime_api.h": "",
    "hip/hip_vector_types.h": "",
    "hip/hip_fp16.h": "#include <cuda_fp16.h>",
    "hip/hip_bf16.h": "#include <cuda_bf16.h>",
    "hip/hip_complex.h": "#include <cuComplex.h>",
    "hip/hip_cooperative_groups.h": "#include <cooperative_groups.h>",
    "hipcub/hipcub.hpp": f'#include "{_FOLDER / "hipcub.h"}"',
}
_DEFINED = ("-D__HIP__=1", "-D__HIPCC__=1", "-D__HIP_PLATFORM_NVIDIA__=1")
# HIP's kernels may call constexpr functions of the host, and its lambdas may be of the device.
_LANGUAGE = ("-expt-relaxed-constexpr", "-extended-lambda")
# CUDA's headers that have names of HIP's, what such a name begins with, and HIP's for it.
_NAMED = (
    ("cuda_runtime.h", "cuda(?=[A-Z])", "hip"),
    ("cuda_runtime_api.h", "cuda(?=[A-Z])", "hip"),
    ("driver_types.h", "cudaDevAttr", "hipDeviceAttribute"),
    ("driver_types.h", "cuda(?=[A-Z])", "hip"),
    ("texture_types.h", "cuda(?=[A-Z])", "hip"),
    ("surface_types.h", "cuda(?=[A-Z])", "hip"),
    ("channel_descriptor.h", "cuda(?=[A-Z])", "hip"),
    ("library_types.h", "cuda(?=[A-Z])", "hip"),
    ("library_types.h", "CUDA_(?=[RC]_)", "HIP_"),
    ("cuComplex.h", "cu(?=[A-Z])", "hip"),
    ("cuComplex.h", "make_cu", "make_hip"),
    ("cuda_bf16.h", "__nv_bfloat", "__hip_bfloat"),
)


def options(kit: Toolkit) -> list[str]:
    """The options of CUDA's compiler for HIP programs; its headers are written to the cache.

    Raises
    ------
    ConfigError
        If CUDA's headers cannot be read.
    OSError
        If the cache cannot be written.
    """
    files = {"gpucoh_hip_names.h": "".join(_names(_headers_of(kit)))}
    for name, text in _HEADERS.items():
        files[name] = f'#include "{_FOLDER / "hip.h"}"\n{text}\n'
    folder = f"hip-{key_of([*files, *files.values()])}"
    for name, text in files.items():
        place = cache_folder("cuda", folder, *Path(name).parts[:-1]) / Path(name).name
        if not place.is_file() or place.read_text(encoding="utf-8") != text:
            part = place.with_name(f"{place.name}.{os.getpid()}")
            part.write_text(text, encoding="utf-8")
            part.replace(place)
    return [f"-I{cache_folder('cuda', folder)}", *_DEFINED, *_LANGUAGE]


def _headers_of(kit: Toolkit) -> Path:
    """The folder of CUDA's headers: beside the compiler, unless that is a script for one elsewhere, which is asked."""
    folder = kit.nvcc.parents[1] / "include"
    if (folder / "cuda_runtime.h").is_file():
        return folder
    with TemporaryDirectory() as place:
        source, rule = Path(place) / "none.cu", Path(place) / "rule.d"
        source.touch()
        run([str(kit.nvcc), "-M", "-MF", str(rule), str(source)], "CUDA's headers")
        found = (file.parent for file in dependencies(rule) if file.name == "cuda_runtime.h")
        return next(found, folder)


def _names(folder: Path) -> Iterator[str]:
    """A line for each name of CUDA's headers that HIP has with another beginning."""
    lines: dict[str, str] = {}
    for header, begin, other in _NAMED:
        try:
            text = (folder / header).read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise ConfigError(f"{error.filename}: {error.strerror}, of CUDA's compiler") from None
        for found in re.finditer(rf"\b{begin}\w*", text):
            name = re.sub(begin, other, found[0], count=1)
            lines.setdefault(name, f"#define {name} {found[0]}\n")
    for name in sorted(lines):
        yield lines[name]


def name_of(function: str) -> str:
    """HIP's name of a function of CUDA's runtime."""
    return re.sub("^cuda", "hip", function)


def language(source: Path) -> Sequence[str]:
    """The options of CUDA's compiler that make a source of a HIP program CUDA."""
    # Programs that include Thrust alone have hip_runtime.h by it.
    return ("-x", "cu", "-include", "hip/hip_runtime.h") if source.suffix in _CXX else ()
