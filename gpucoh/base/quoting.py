"""Values in error messages: on one line, and short, whatever a user gave."""

from __future__ import annotations

#: Most characters of a quoted value.
LONGEST = 60
#: Most characters of a word of a message, such as a path.
LONGEST_WORD = 200


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text on one line: line breaks and control characters escaped, its middle left out where it is too long."""
    if len(text) > 2 * longest:
        text = text[:longest] + text[-longest:]
    plain = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )
    if len(plain) <= longest:
        return plain
    tail = longest // 4
    return f"{plain[: longest - tail - 2]}..{plain[-tail:]}"


def one_line(message: str) -> str:
    """A message on one line: control characters escaped, and the middle left out of words that no reader reads."""
    if message.isprintable() and len(message) <= LONGEST_WORD:
        return message
    words = (shortened(word, LONGEST_WORD) for word in message.split(" "))
    return " ".join(words)


def _short(value: object) -> object:
    """A long text without its middle, whose representation would be made for nothing."""
    if isinstance(value, str) and len(value) > LONGEST:
        return value[:LONGEST] + value[-LONGEST:]
    return value


def quoted(value: object) -> str:
    """The ``repr`` of a value that a user gave, on one line and at most 60 characters long.

    >>> quoted("tc-wek"), quoted([1, 2])
    ("'tc-wek'", '[1, 2]')
    """
    try:
        text = repr(_short(value))
    except Exception:  # of a user's class
        text = f"<{type(value).__name__}>"
    return shortened(" ".join(text.split()) if "\n" in text else text)
