"""Print the versions of what `make demo` installs, as constraints of pip: ``lock.py > tools/lock.txt`` (`make lock`).

They are those of this environment, with what they need themselves. A package that is not listed is free.
"""

import platform
import sys
from importlib import metadata

import requirements
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def versions(wanted: list[str]) -> dict[str, str]:
    """Version by name of the packages of requirements, and of those that they require here."""
    found: dict[str, str] = {}
    while wanted:
        one = Requirement(wanted.pop())
        if one.marker and not one.marker.evaluate({"extra": ""}):
            continue
        name = canonicalize_name(one.name)
        if name not in found:
            package = metadata.distribution(name)
            found[name] = package.version
            wanted += package.requires or []
    return found


def main() -> int:
    parts = requirements.parts()
    found = versions(parts["build"] + parts["run"])
    python = f"CPython {platform.python_version()} on {platform.system()}, {platform.machine()}"
    print(
        f"# Packages with which gpucoh passed its tests, under {python}. `make lock` writes this file."
    )
    print("\n".join(f"{name}=={found[name]}" for name in sorted(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
