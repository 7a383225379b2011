"""Ruff: the source lines and fixes that it draws are left out; rule, text and place of each finding stay."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tori_tui.tools.condense.recogniser import Recogniser, blocks_from

_SIGN: Final = re.compile(r"^Found \d+ errors?(?: \(.*\))?\.$", re.M)
_PLACE: Final = re.compile(r" +--> \S+:\d+:\d+$")
_FRAME_START: Final = re.compile(r" +\|$")
_BLANK: Final = re.compile(r"$|Found \d+ error")
_FRAME: Final = re.compile(r" *\d* *[|+-]|help: | +\||\.\.\. \|| +:::")


def _noise(lines: Sequence[str]) -> set[int]:
    frames = blocks_from(lines, _FRAME_START, _BLANK)
    places = {at for at, line in enumerate(lines) if _PLACE.match(line)}
    blocks = {at for at in frames if _FRAME.match(lines[at])}
    # Only what follows the place of a finding is a frame.
    return blocks if places and frames == blocks else set()


RUFF: Final = Recogniser("ruff", _SIGN, _noise)

__all__ = ["RUFF"]
