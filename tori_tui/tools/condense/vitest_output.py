"""Vitest: files and tests that passed are left out; failures and the summary stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser, matching

_SUMMARY: Final = re.compile(r"^ *Test Files  .*\(\d+\)$", re.M)
_PASSED: Final = re.compile(r" +(?:✓|√|↓) \S|⎯{30,}(?:\[\d+/\d+\]⎯+)?$| RUN  v\d")


def _noise(lines: Sequence[str]) -> set[int]:
    return matching(lines, _PASSED)


VITEST: Final = Recogniser("vitest", _SUMMARY, _noise)

__all__ = ["VITEST"]
