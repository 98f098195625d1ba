"""Parser of the last clause of a litmus test: ``exists (P1:r0 == 1 /\\ ~(x = 2))``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpucoh.base.quoting import quoted
from gpucoh.litmus.syntax import Condition, Proposition, Term, UnsupportedError, read_number

_TOKEN = re.compile(
    r"\s*(/\\|\\/|==|!=|<=|>=|<|>|=|~|\(|\)|\[|\]|:|-?0[xX][0-9a-fA-F]+|-?\d+|\w+|\S)"
)
_WORDS = {"not": "~", "and": "/\\", "or": "\\/"}
_DEEPEST = 100


@dataclass
class _Reader:
    tokens: list[str]
    line: int
    at: int = 0
    depth: int = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def fail(self, what: str) -> UnsupportedError:
        return UnsupportedError(f"condition: {what}", self.line)

    def disjunction(self) -> Proposition:
        return self._joined("or", "\\/", self.conjunction)

    def conjunction(self) -> Proposition:
        return self._joined("and", "/\\", self.factor)

    def _joined(self, kind: str, sign: str, part: object) -> Proposition:
        assert callable(part)
        parts = [part()]
        while self.peek() == sign:
            self.take()
            parts.append(part())
        return parts[0] if len(parts) == 1 else Proposition(kind, tuple(parts))

    def factor(self) -> Proposition:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self.fail("nested too deeply")
        try:
            if self.peek() == "~":
                self.take()
                return Proposition("not", (self.factor(),))
            if self.peek() == "(":
                self.take()
                inside = self.disjunction()
                if self.take() != ")":
                    raise self.fail("a closing parenthesis is missing")
                return inside
            return self.comparison()
        finally:
            self.depth -= 1

    def comparison(self) -> Proposition:
        left = self.term()
        sign = self.take()
        sign = "==" if sign == "=" else sign
        if sign not in ("==", "!=", "<", "<=", ">", ">="):
            raise self.fail(f"{quoted(sign or 'the end')} where a comparison is expected")
        return Proposition(sign, left=left, right=self.term())

    def term(self) -> Term:
        token = self.take()
        if token == "[":
            inside = self.term()
            if self.take() != "]":
                raise self.fail("a closing bracket is missing")
            return inside
        if re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)", token):
            if self.peek() == ":":
                return self.register(token)
            return Term(None, read_number(token, self.line))
        if re.fullmatch(r"P\d+", token) and self.peek() == ":":
            return self.register(token[1:])
        if re.fullmatch(r"[A-Za-z_]\w*", token):
            if self.peek() == "[":
                raise self.fail(f"{token}[..]: arrays are not modelled")
            return Term(token)
        raise self.fail(
            f"{quoted(token or 'the end')} where a register, location or number is expected"
        )

    def register(self, thread: str) -> Term:
        self.take()
        name = self.take()
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise self.fail(f"{quoted(name or 'the end')} is not a register")
        return Term(f"P{int(thread)}:{name}")


def read_proposition(text: str, line: int) -> Proposition:
    """Parse one proposition.

    Raises
    ------
    UnsupportedError
        With the line, if the text is not a proposition.
    """
    tokens = [_WORDS.get(token, token) for token in _TOKEN.findall(text)]
    if tokens and tokens[-1] == ";":
        tokens.pop()
    reader = _Reader(tokens, line)
    found = reader.disjunction()
    if reader.at < len(tokens):
        raise reader.fail(f"{quoted(reader.peek())} is unexpected after the condition")
    return found


def read_condition(quantifier: str, text: str, line: int) -> Condition:
    """Parse a quantifier and its proposition.

    Raises
    ------
    UnsupportedError
        With the line, if the text is not a condition.
    """
    return Condition(quantifier, read_proposition(text, line))
