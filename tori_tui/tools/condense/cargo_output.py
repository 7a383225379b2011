"""Cargo: progress, passed tests and frames of the standard library are left out; errors and failures stay.

Warnings stay too, unless something did not compile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser, blocks_from, matching

_SIGN: Final = re.compile(
    r"^test result: (?:ok|FAILED)\. \d+ passed|^ +(?:Compiling|Checking) \S+ v\d"
    r"|^ +Finished `|^error: could not compile",
    re.M,
)
_PROGRESS: Final = re.compile(
    r" +(?:Compiling|Checking|Downloading|Downloaded|Fresh|Updating|Locking|Adding|Blocking|Documenting"
    r"|Unpacking|Building) \S"
)
_PASSED: Final = re.compile(r"test \S.* \.\.\. (?:ok|ignored.*)$")
_FRAME: Final = re.compile(r" +\d+: ")
_FRAME_OF_STD: Final = re.compile(r" +at /rustc/")
_WARNING: Final = re.compile(r"warning(?:\[[\w:]+\])?: (?!`\S+` \()")
_ERROR: Final = re.compile(r"error(?:\[E\d+\])?: (?!could not compile|test failed|aborting)")
_BLANK: Final = re.compile(r"$")


def _noise(lines: Sequence[str]) -> set[int]:
    found = matching(lines, _PROGRESS) | matching(lines, _PASSED)
    for at in matching(lines, _FRAME_OF_STD):
        if at and _FRAME.match(lines[at - 1]):
            found |= {at - 1, at}
    if matching(lines, _ERROR):
        found |= blocks_from(lines, _WARNING, _BLANK)
    return found


CARGO: Final = Recogniser("cargo", _SIGN, _noise)

__all__ = ["CARGO"]
