"""Write the .expected files of litmus tests: the outcomes that every memory model allows (gpucoh/litmus/expected.py).

    python tools/promote_litmus.py                  all tests of the package
    python tools/promote_litmus.py FILE.litmus ...  only these

``tests/litmus/test_expected.py`` compares; review the difference before committing it.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))


def main(names: list[str]) -> int:
    from gpucoh.litmus import load
    from gpucoh.litmus.expected import expected

    files = [Path(name) for name in names] or sorted((ROOT / "gpucoh").rglob("*.litmus"))
    for file in files:
        text, beside = expected(load(file)), file.with_suffix(".expected")
        if not beside.exists() or beside.read_text(encoding="utf-8") != text:
            beside.write_text(text, encoding="utf-8")
            print(beside)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
