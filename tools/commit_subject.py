"""Check the subject of a commit message: ``commit_subject.py FILE``. The commit-msg hook of pre-commit runs it."""

from __future__ import annotations

import sys
from pathlib import Path

LONGEST = 72


def wrong(message: str) -> str | None:
    """What is wrong with the first lines of a message, or None."""
    subject, *rest = message.splitlines() or [""]
    if not subject.strip():
        return "the first line is empty (expected: the subject)"
    if subject.startswith(("fixup! ", "squash! ", "amend! ")):  # a rebase replaces it
        return None
    if len(subject) > LONGEST:
        return f"the subject has {len(subject)} characters (allowed: at most {LONGEST}): {subject}"
    if rest and rest[0].strip() and not rest[0].startswith("#"):
        return "the second line is not empty (expected: an empty line between subject and body)"
    return None


def main() -> int:
    problem = wrong(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if problem:
        print(f"commit message: {problem}", file=sys.stderr)
    return 1 if problem else 0


if __name__ == "__main__":
    raise SystemExit(main())
