"""ESLint: warnings are left out where there are errors; errors and the summary stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser, matching

_SUMMARY: Final = re.compile(r"^[✖×] \d+ problems? \((?P<errors>\d+) errors?, \d+ warnings?\)$", re.M)
_ROW: Final = re.compile(r"  +\d+:\d+ +(?P<kind>error|warning) ")
_WARNING: Final = re.compile(r"  +\d+:\d+ +warning ")


def _noise(lines: Sequence[str]) -> set[int]:
    summaries = [summary for line in lines if (summary := _SUMMARY.match(line))]
    if not any(int(summary["errors"]) for summary in summaries):
        return set()
    found = matching(lines, _WARNING)
    for at, line in enumerate(lines):
        if line and not line[0].isspace() and not _SUMMARY.match(line):
            end = at + 1
            while end < len(lines) and _ROW.match(lines[end]):
                end += 1
            # A file of which no row is left needs no name.
            if end > at + 1 and found.issuperset(range(at + 1, end)):
                found.add(at)
    return found


ESLINT: Final = Recogniser("eslint", _SUMMARY, _noise)

__all__ = ["ESLINT"]
