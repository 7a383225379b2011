"""Small languages inside a command: which scripts of sed, awk and jq only print.

Must not run or fully parse them: what is not of a known harmless form is not harmless.
"""

from __future__ import annotations

import re
from typing import Final

_BRACKET: Final = r"\[\^?\]?[^\]\\\n{mark}]*\]"
_PATTERN: Final = rf"(?:[^\\\n\[{{mark}}]|\\.|{_BRACKET})*"
# In a bracket the mark would not end the pattern, so a bracket that holds it is not understood here.
_ADDRESS: Final = rf"(?:\d+|\$|/{_PATTERN.format(mark='/')}/I?)(?:~\d+)?"
_SUBSTITUTE: Final = "|".join(
    rf"{mark}{_PATTERN.format(mark=mark)}{mark}(?:[^\\\n{mark}]|\\.)*{mark}[gip0-9I]*"
    for mark in ("/", r"\|", "#", ",", "@", ":")
)
_SED_STEP: Final = re.compile(
    rf"[\s{{}}]*(?:{_ADDRESS}(?:\s*,\s*(?:[+~]?\d+|{_ADDRESS}))?\s*!?[\s{{]*)?(?:[pdq=]|s(?:{_SUBSTITUTE}))?"
    r"[ \t}]*(?:[;\n]|$)"
)
"""One command: print, delete, quit, number or replace. `w`, `e`, `r` and their like have no place in it."""

_AWK_ODD: Final = re.compile(r"system|getline|ARGV|ENVIRON|PROCINFO|@|\||\\\n|FILENAME\s*=[^=]|/inet/")

_JQ_ODD: Final = re.compile(
    r"\b(?:import|include|env|ENV|debug|stderr|input_filename|modulemeta|getpath\s*\(\s*\$)\b"
)

SCRIPT_LIMIT_CHARS: Final = 500
"""A longer one is a program; its form is not worth the time that a hostile one may take to match."""


def sed_only_prints(script: str) -> bool:
    """Say whether a script of sed prints, deletes and replaces lines on their way to the output only."""
    if len(script) > SCRIPT_LIMIT_CHARS:
        return False
    position = 0
    while position < len(script):
        step = _SED_STEP.match(script, position)
        if step is None or step.end() == position:
            return False
        position = step.end()
    return True


def awk_only_prints(script: str) -> bool:
    """Say whether a program of awk prints to the output only, and reads what it was given only."""
    if len(script) > SCRIPT_LIMIT_CHARS or _AWK_ODD.search(script.replace("||", "")) is not None:
        return False
    # A `>` that stands before every print is a comparison; behind one it may name a file.
    return re.search(r"print.*>|>>", script, re.DOTALL) is None


def jq_only_prints(script: str) -> bool:
    """Say whether a program of jq looks only at what it is given."""
    return len(script) <= SCRIPT_LIMIT_CHARS and _JQ_ODD.search(script) is None


__all__ = ["awk_only_prints", "jq_only_prints", "sed_only_prints"]
