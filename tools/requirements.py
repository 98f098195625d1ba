"""Print the requirements of a part of gpucoh, one per line, from pyproject.toml.

build: what compiles the core; compare: what `gpucoh compare` imports; run: both, the others and SciPy; test, dev ..:
extras.
"""

import sys
import tomllib
from pathlib import Path

# A large package that the comparison of `make demo` does without.
LATER = "pyarrow"


def parts() -> dict[str, list[str]]:
    """The requirements by part."""
    described = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    build = described["build-system"]["requires"]
    run = described["project"]["dependencies"]
    extras = described["project"]["optional-dependencies"]
    return {
        "build": build + [text for text in run if text.startswith("numpy")],
        "compare": [text for text in run if not text.startswith(LATER)],
        "run": build + run + extras["scipy"],
        **extras,
    }


def main() -> int:
    known = parts()
    if len(sys.argv) != 2 or sys.argv[1] not in known:
        print(f"usage: requirements.py {'|'.join(known)}", file=sys.stderr)
        return 2
    print("\n".join(known[sys.argv[1]]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
