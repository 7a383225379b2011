"""Unittest: dots and passed tests are left out; failures and the summary stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser, matching

_SUMMARY: Final = re.compile(r"^Ran \d+ tests? in [\d.]+s$", re.M)
_RULE: Final = re.compile(r"[=-]{70}$")
_PASSED: Final = re.compile(r"\w+ \([\w.]+\)(?: \(.*\))? \.\.\. (?:ok|skipped .*|expected failure)$")
_NAMED: Final = re.compile(r"\w+ \([\w.]+\)$")
_DESCRIBED: Final = re.compile(r".* \.\.\. (?:ok|skipped .*|expected failure)$")
_PROGRESS: Final = re.compile(r"[.FEsxu]+$")


def _noise(lines: Sequence[str]) -> set[int]:
    found = matching(lines, _PASSED)
    for at, (line, following) in enumerate(pairwise(lines)):
        if _NAMED.match(line) and _DESCRIBED.match(following):
            found |= {at, at + 1}
        if _PROGRESS.match(line) and _RULE.match(following):
            found.add(at)
    return found


UNITTEST: Final = Recogniser("unittest", _SUMMARY, _noise)

__all__ = ["UNITTEST"]
