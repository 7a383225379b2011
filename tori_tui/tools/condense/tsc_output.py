"""The TypeScript compiler: the source lines that it repeats are left out; every error stays."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser

_SIGN: Final = re.compile(r"^\S.*:\d+:\d+ - error TS\d+: ", re.M)
_ERROR: Final = re.compile(r"\S.*:\d+:\d+ - error TS\d+: ")
_MARKS: Final = re.compile(r" +~+$")
_SOURCE: Final = re.compile(r" *\d+ ")


def _noise(lines: Sequence[str]) -> set[int]:
    found: set[int] = set()
    for at, line in enumerate(lines):
        if at and _MARKS.match(line) and _SOURCE.match(lines[at - 1]):
            found |= {at - 1, at}
    return found


TSC: Final = Recogniser("tsc", _SIGN, _noise)

__all__ = ["TSC"]
