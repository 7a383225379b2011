"""A command's output without what test runners and compilers say about what went well.

Must not touch an output that no recogniser is sure of, nor one that a command only reads from a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tori_tui.tools.condense.cargo_output import CARGO
from tori_tui.tools.condense.eslint_output import ESLINT
from tori_tui.tools.condense.gcc_output import GCC
from tori_tui.tools.condense.go_output import GO
from tori_tui.tools.condense.jest_output import JEST
from tori_tui.tools.condense.mypy_output import MYPY
from tori_tui.tools.condense.pytest_output import PYTEST
from tori_tui.tools.condense.recogniser import Recogniser
from tori_tui.tools.condense.ruff_output import RUFF
from tori_tui.tools.condense.tsc_output import TSC
from tori_tui.tools.condense.unittest_output import UNITTEST
from tori_tui.tools.condense.vitest_output import VITEST

RECOGNISERS: Final[Sequence[Recogniser]] = (
    *(PYTEST, UNITTEST, JEST, VITEST, GO, CARGO),
    *(TSC, ESLINT, GCC, RUFF, MYPY),
)

READER: Final = re.compile(
    r"\s*(?:cat|bat|head|tail|less|more|grep|egrep|rg|ag|sed|awk|cut|sort|uniq|wc|jq|nl|tac|zcat|zgrep|diff"
    r"|find|ls|cd|echo|printf|git\s+(?:-C\s+\S+\s+)?(?:log|show|diff|grep|blame))\b"
)
BETWEEN_COMMANDS: Final = re.compile(r"[|;&\n]+")

LINE_LIMIT_CHARS: Final = 2_000
TOO_LONG: Final = "\0"
"""In the place of a longer line: no tool writes one, so that it stays."""

MIN_LINES_LEFT_OUT: Final = 3
"""Below this the line that tells of it costs as much as it saves."""


@dataclass(frozen=True, slots=True)
class Condensed:
    """What is left of an output."""

    text: str
    n_left_out: int
    tools: tuple[str, ...]
    """Whose output it was."""


def condensed(command: str, text: str) -> Condensed | None:
    """Return an output without its noise, or None where it is to stay as it is."""
    known = [recogniser for recogniser in RECOGNISERS if recogniser.sign.search(text)]
    if not known or _only_reads(command):
        return None
    lines = text.splitlines()
    looked_at = [line if len(line) <= LINE_LIMIT_CHARS else TOO_LONG for line in lines]
    noise = {recogniser.name: recogniser.noise(looked_at) for recogniser in known}
    left_out = set[int]().union(*noise.values())
    if len(left_out) < MIN_LINES_LEFT_OUT:
        return None
    kept = _without_double_blanks([line for at, line in enumerate(lines) if at not in left_out])
    tools = tuple(name for name, found in noise.items() if found)
    return Condensed("\n".join(kept), len(left_out), tools)


def _only_reads(command: str) -> bool:
    """Whether a command shows what stands in files, which is then asked for as it is."""
    words = (READER.match(part) for part in BETWEEN_COMMANDS.split(command) if part.strip())
    return all(words)


def _without_double_blanks(lines: Sequence[str]) -> list[str]:
    """Return the lines with one blank line where several met, and none at either end."""
    kept = [line for at, line in enumerate(lines) if line.strip() or (at and lines[at - 1].strip())]
    while kept and not kept[-1].strip():
        kept.pop()
    return kept[1:] if kept and not kept[0].strip() else kept


__all__ = ["Condensed", "condensed"]
