"""Mypy: repeated hints and source lines are left out; every error stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser

_SIGN: Final = re.compile(
    r"^Found \d+ errors? in \d+ files? \((?:checked \d+ source files?|errors prevented .*)\)$", re.M
)
_HINT: Final = re.compile(r"\S+:\d+(?::\d+)?: note: (?:See https?://|Hint: |\(or run|Use \"-> None\")")
_MARKS: Final = re.compile(r" {4,}\^~*$")


def _noise(lines: Sequence[str]) -> set[int]:
    found: set[int] = set()
    hints: set[str] = set()
    for at, line in enumerate(lines):
        if _HINT.match(line):
            text = line.partition(" note: ")[2]
            if text in hints or text.startswith("See http"):
                found.add(at)
            hints.add(text)
        elif at and _MARKS.match(line) and lines[at - 1].startswith("    "):
            found |= {at - 1, at}
    return found


MYPY: Final = Recogniser("mypy", _SIGN, _noise)

__all__ = ["MYPY"]
