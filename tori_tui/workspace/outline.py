"""What a file defines and where: by its syntax for the common languages, else by how it is indented.

Must not read a file, nor fail at any text; where nothing can be said the outline is empty.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from tori_tui.workspace.syntax import LANGUAGES, definitions_in

LABEL_LIMIT_CHARS: Final = 90

LEVELS_BY_INDENT: Final = 2
PROSE: Final = frozenset(
    {
        ".md",
        ".markdown",
        ".rst",
        ".txt",
        ".log",
        ".csv",
        ".tsv",
        ".lock",
        ".svg",
        ".toml",
        ".ini",
        ".cfg",
        ".json",
        "",
    }
)
"""Kinds of files whose indentation tells nothing."""

_HEADING: Final = re.compile(r"(#{1,3}) +(\S.*)")
_FENCE: Final = re.compile(r" {0,3}(?:```|~~~)")
_HEADER: Final = re.compile(r"[\w.@\"'\[$&<#-]")
_KEYWORD: Final = re.compile(r"(?:else|elif|except|finally|catch|end|fi|done|esac|then|do)\b")


@dataclass(frozen=True, slots=True)
class Definition:
    """Something that a file defines."""

    first_line: int
    last_line: int
    depth: int
    """0 at the top, 1 inside a class."""
    label: str
    """Its own first line."""


def outline_of(name: str, text: str) -> tuple[Definition, ...]:
    """Return the definitions of a file's text in order; the name's ending tells the language."""
    suffix = PurePath(name).suffix.lower()
    lines = text.removesuffix("\n").split("\n")
    if suffix in (".md", ".markdown"):
        return _headings(lines)
    if suffix in LANGUAGES:
        found = definitions_in(suffix, text)
        if found is not None:
            return tuple(
                Definition(first, min(last, len(lines)), depth, _first_label(lines[first - 1 : last]))
                for first, last, depth in found
                if first <= len(lines)
            )
    return () if suffix in PROSE else _by_indent(lines)


def _first_label(lines: Sequence[str]) -> str:
    """Return the line that says what is defined, behind annotations."""
    return _label(next((line for line in lines if not line.lstrip().startswith(("@", "#["))), lines[0]))


def _label(line: str) -> str:
    plain = line.strip().removesuffix("{").rstrip()
    return plain if len(plain) <= LABEL_LIMIT_CHARS else plain[: LABEL_LIMIT_CHARS - 1] + "…"


def _headings(lines: Sequence[str]) -> tuple[Definition, ...]:
    starts: list[tuple[int, int, str]] = []
    is_code = False
    for number, line in enumerate(lines, 1):
        if _FENCE.match(line):
            is_code = not is_code
        elif not is_code and (heading := _HEADING.match(line)):
            starts.append((number, len(heading[1]) - 1, _label(line)))
    ends = [start - 1 for start, _, _ in starts[1:]] + [len(lines)] * bool(starts)
    return tuple(
        Definition(first, last, depth, label)
        for (first, depth, label), last in zip(starts, ends, strict=True)
    )


def _by_indent(lines: Sequence[str]) -> tuple[Definition, ...]:
    """Return the lines that have deeper ones below them, at the two lowest levels of indentation."""
    written = [(at, _indent(line)) for at, line in enumerate(lines) if line.strip()]
    levels = sorted({indent for _, indent in written})[:LEVELS_BY_INDENT]
    found: list[Definition] = []
    for place, (at, indent) in enumerate(written[:-1]):
        line = lines[at].strip()
        is_header = _HEADER.match(line) and not _KEYWORD.match(line)
        if indent not in levels or written[place + 1][1] <= indent or not is_header:
            continue
        last = at
        for below, deeper in written[place + 1 :]:
            if deeper <= indent:
                break
            last = below
        found.append(Definition(at + 1, last + 1, levels.index(indent), _label(lines[at])))
    return tuple(found)


def _indent(line: str) -> int:
    plain = line.expandtabs(4)
    return len(plain) - len(plain.lstrip())


__all__ = ["Definition", "outline_of"]
