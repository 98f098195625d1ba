"""Scripts of the tree as modules."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[1]


def script(path: str) -> ModuleType:
    """The script of a path in the tree, such as ``tools/shown.py``, which imports others of its folder."""
    name = "_".join(Path(path).with_suffix("").parts)
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / path)
        sys.modules[name] = importlib.util.module_from_spec(spec)
        sys.path.insert(0, str((ROOT / path).parent))
        try:
            spec.loader.exec_module(sys.modules[name])
        finally:
            sys.path.remove(str((ROOT / path).parent))
    return sys.modules[name]
