"""Print the requirements of a part of gpucoh, one per line, from pyproject.toml: run (and build), test, dev .."""

import sys
import tomllib
from pathlib import Path


def main() -> int:
    described = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    parts = {
        "run": described["build-system"]["requires"] + described["project"]["dependencies"],
        **described["project"]["optional-dependencies"],
    }
    if len(sys.argv) != 2 or sys.argv[1] not in parts:
        print(f"usage: requirements.py {'|'.join(parts)}", file=sys.stderr)
        return 2
    print("\n".join(parts[sys.argv[1]]))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
