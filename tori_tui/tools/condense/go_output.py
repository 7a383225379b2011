"""Go test: tests that passed are left out, and packages where others failed; failures stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser, matching

_SIGN: Final = re.compile(
    r"^(?:ok  \t\S+\t(?:[\d.]+s|\(cached\))|FAIL\t\S+\t[\d.]+s|FAIL\t\S+ \[\w+ failed\])", re.M
)
_NOISE: Final = re.compile(r"=== (?:RUN|PAUSE|CONT|NAME) |\?   \t\S+\t\[no test files\]$|PASS$")
_PASSED: Final = re.compile(r" *--- (?:PASS|SKIP): (\S+) ")
_RUNNING: Final = re.compile(r"(?:=== (?:RUN|CONT|NAME) +| *--- (?:PASS|FAIL|SKIP): )(\S+)")
"""What is logged next belongs to that test."""
_LOGGED: Final = re.compile(r" {4,}\S+\.go:\d+: ")
_PASSED_PACKAGE: Final = re.compile(r"ok  \t")
_FAILED_PACKAGE: Final = re.compile(r"FAIL\t")


def _noise(lines: Sequence[str]) -> set[int]:
    found = matching(lines, _NOISE)
    passed = {name[1] for line in lines if (name := _PASSED.match(line))}
    running = ""
    for at, line in enumerate(lines):
        if name := _RUNNING.match(line):
            running = name[1]
        if _PASSED.match(line) or (running in passed and _LOGGED.match(line)):
            found.add(at)
    if matching(lines, _FAILED_PACKAGE):
        found |= matching(lines, _PASSED_PACKAGE)
    return found


GO: Final = Recogniser("go", _SIGN, _noise)

__all__ = ["GO"]
