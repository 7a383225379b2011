"""Jest: files and tests that passed are left out; failures and the summary stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser, matching

_SUMMARY: Final = re.compile(r"^Tests: +.*\b\d+ total$", re.M)
_PASSED_FILE: Final = re.compile(r"PASS \S")
_PASSED_TEST: Final = re.compile(r"\s+(?:[✓√]|○ skipped|✎ todo) ")
_TOLD: Final = re.compile(r"\s+(?:✕|×|●|console\.)")


def _noise(lines: Sequence[str]) -> set[int]:
    found = matching(lines, _PASSED_TEST)
    for at in matching(lines, _PASSED_FILE):
        end = at + 1
        while end < len(lines) and lines[end].startswith("  "):
            end += 1
        # Names of groups stand between the names of passed tests; anything else that was printed stays.
        is_quiet = not any(_TOLD.match(line) for line in lines[at + 1 : end])
        found.update(range(at, end if is_quiet else at + 1))
    return found


JEST: Final = Recogniser("jest", _SUMMARY, _noise)

__all__ = ["JEST"]
