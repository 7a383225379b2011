"""Pytest: what passed, the header, progress and warnings are left out; failures and the summary stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser, blocks_from, matching

_COUNT: Final = (
    r"\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|warnings?|deselected|rerun|subtests passed)"
)
_SUMMARY: Final = re.compile(rf"^(?:=+ )?{_COUNT}(?:, {_COUNT})* in [\d.]+s(?: \([\d:]+\))?(?: =+)?$", re.M)

_HEADER: Final = re.compile(
    r"=+ test session starts =+$|platform \w+ -- Python |(?:cachedir|rootdir|configfile|testpaths|plugins"
    r"|asyncio|metadata|timeout|timeout method|timeout func_only|created|django): "
    r"|hypothesis profile '|Using --randomly-seed|\d+ workers? \[\d+ items?\]|scheduling tests via "
    r"|bringing up nodes|(?:collecting \.\.\. )?collected \d+ items?(?! / \d+ error)"
)
_PROGRESS: Final = re.compile(r"(?:\S+\.py [.FEsxXR]+(?: +\[ *\d+%\])?|[.FEsxXR]+ +\[ *\d+%\])$")
_PASSED: Final = re.compile(
    r"\S+::.* (?:PASSED|SKIPPED|XFAIL)(?: \(.*\))?(?: +\[ *\d+%\])?$"
    r"|\[gw\d+\](?: \[ *\d+%\])? (?:PASSED|SKIPPED|XFAIL) |(?:PASSED|SKIPPED|XFAIL) \[?\S+"
)
_QUIET_SECTION: Final = re.compile(r"=+ (?:warnings summary(?: \(final\))?|PASSES) =+$")
_SECTION: Final = re.compile(r"=+ .+ =+$|" + _SUMMARY.pattern.removeprefix("^"))


def _noise(lines: Sequence[str]) -> set[int]:
    quiet = blocks_from(lines, _QUIET_SECTION, _SECTION)
    found = matching(lines, _HEADER) | matching(lines, _PROGRESS) | matching(lines, _PASSED)
    return quiet | found


PYTEST: Final = Recogniser("pytest", _SUMMARY, _noise)

__all__ = ["PYTEST"]
