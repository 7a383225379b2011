"""Reads the JSON objects in a model's text, also nearly right ones whose meaning is certain.

Certain are: Python's literals and quotes, trailing commas, line breaks inside strings, and the one last
brace of an object that the text leaves out. Must not guess: what has two meanings is no object.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Final

DEPTH_LIMIT: Final = 64
CANDIDATES_LIMIT: Final = 200
"""Braces of one text that are looked at; prose and code may hold any number."""

_OBJECT_START: Final = re.compile(r"""\{(?=\s*["'}])""")
_SPACE: Final = re.compile(r"\s*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9]\d{0,300})(?:\.\d{1,300})?(?:[eE][+-]?\d{1,2})?(?![\w.])")
_WORD: Final = re.compile(r"true|True|false|False|null|None")
_WORDS: Final[dict[str, object]] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "None": None,
}
_QUOTED: Final = {
    '"': re.compile(r'"([^"\\]*(?:\\.[^"\\]*)*)"', re.S),
    "'": re.compile(r"'([^'\\]*(?:\\.[^'\\]*)*)'", re.S),
}
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.S)
_ESCAPES: Final = {
    '"': '"',
    "'": "'",
    "\\": "\\",
    "/": "/",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
}
_END: Final = re.compile(r"\s*(?:\Z|```|</)")
"""Where an object may lack its last brace: the text, its fence or its tag ends."""


class NotCertain(ValueError):
    """The text at that place is no object, or one that could mean several things."""


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object and where it stands in the text."""

    value: dict[str, object]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Objects:
    """The objects of a text, in order, none inside another."""

    found: tuple[FoundObject, ...]
    broken_at: int | None = None
    """Where something begins like an object and cannot be read; nothing behind it was looked at."""
    problem: str = ""


def find_objects(text: str, *, is_cut: bool = False) -> Objects:
    """Return the objects of a text up to the first that cannot be read with certainty.

    Args:
        text: What a model wrote.
        is_cut: The text ended at a limit: no brace may be missing.
    """
    found: list[FoundObject] = []
    at = 0
    for _ in range(CANDIDATES_LIMIT):
        start = _OBJECT_START.search(text, at)
        if start is None:
            break
        try:
            value, at = _Reader(text, is_cut).object_at(start.start())
        except NotCertain as problem:
            return Objects(tuple(found), start.start(), str(problem))
        found.append(FoundObject(value, start.start(), at))
    return Objects(tuple(found))


def read_object(text: str) -> dict[str, object] | None:
    """Return the one object that the whole text is, or None."""
    stripped = text.strip()
    if not stripped.startswith("{"):
        return None
    try:
        value, end = _Reader(stripped, is_cut=True).object_at(0)
    except NotCertain:
        return None
    return value if end == len(stripped) else None


class _Reader:
    """Reads one value at a place of a text."""

    def __init__(self, text: str, is_cut: bool) -> None:
        self._text = text
        self._may_lack_brace = not is_cut

    def object_at(self, at: int, depth: int = 0) -> tuple[dict[str, object], int]:
        """Return the object that begins there and where it ends."""
        _check_depth(depth)
        values: dict[str, object] = {}
        at = self._skip(at + 1)
        while not self._has("}", at):
            key, at = self._string_at(at)
            at = self._skip(at)
            if not self._has(":", at):
                raise NotCertain(f"a colon is missing after {key[:40]!r}")
            if key in values:
                raise NotCertain(f"{key[:40]!r} stands twice in one object")
            values[key], at = self._value_at(self._skip(at + 1), depth)
            at = self._skip(at)
            if self._has(",", at):
                at = self._skip(at + 1)
            elif not self._has("}", at):
                return values, self._without_brace(at, depth)
        return values, at + 1

    def _without_brace(self, at: int, depth: int) -> int:
        if depth == 0 and self._may_lack_brace and _END.match(self._text, at):
            return at
        raise NotCertain("a comma or a closing brace is missing")

    def _value_at(self, at: int, depth: int) -> tuple[object, int]:
        char = self._text[at : at + 1]
        if char in ('"', "'"):
            return self._string_at(at)
        if char == "{":
            return self.object_at(at, depth + 1)
        if char == "[":
            return self._list_at(at, depth + 1)
        if word := _WORD.match(self._text, at):
            return _WORDS[word.group()], word.end()
        if number := _NUMBER.match(self._text, at):
            return json.loads(number.group()), number.end()
        raise NotCertain(f"no value at {self._text[at : at + 20]!r}")

    def _list_at(self, at: int, depth: int) -> tuple[list[object], int]:
        _check_depth(depth)
        values: list[object] = []
        at = self._skip(at + 1)
        while not self._has("]", at):
            value, at = self._value_at(at, depth)
            values.append(value)
            at = self._skip(at)
            if self._has(",", at):
                at = self._skip(at + 1)
            elif not self._has("]", at):
                raise NotCertain("a comma or a closing bracket is missing")
        return values, at + 1

    def _string_at(self, at: int) -> tuple[str, int]:
        quote = self._text[at : at + 1]
        if quote not in ('"', "'"):
            raise NotCertain(f"no quoted text at {self._text[at : at + 20]!r}")
        whole = _QUOTED[quote].match(self._text, at)
        if whole is None:
            raise NotCertain("a text in quotes has no end")
        return _joined(_ESCAPE.sub(_unescaped, whole[1])), whole.end()

    def _has(self, char: str, at: int) -> bool:
        return self._text.startswith(char, at)

    def _skip(self, at: int) -> int:
        space = _SPACE.match(self._text, at)
        return space.end() if space else at


def _unescaped(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    if escape[2] not in _ESCAPES:
        raise NotCertain(f"{escape[0]!r} is no escape; a backslash is written twice")
    return _ESCAPES[escape[2]]


def _check_depth(depth: int) -> None:
    if depth > DEPTH_LIMIT:
        raise NotCertain("it is nested too deeply")


def _joined(text: str) -> str:
    """Join escaped surrogate pairs; one that stays alone means nothing."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        raise NotCertain("a text holds half a character") from None


__all__ = ["FoundObject", "NotCertain", "Objects", "find_objects", "read_object"]
