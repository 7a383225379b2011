r"""What a program printed for a terminal, as the plain text that stands there in the end.

Must not be used on files: only programs overwrite their own lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

CONTROL: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

SEQUENCE: Final = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    "|(?:\x1b\\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"  # OSC: titles, links, clipboard
    "|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\\\|\x9c)?"  # DCS, SOS, PM, APC
    "|\x1b[ -/]*[0-~]"  # everything else that begins with ESC
)

_OVERSTRUCK: Final = re.compile("[^\n\x08]\x08")
_LINE_END: Final = re.compile("\r+\n")


def plain_text(text: str) -> str:
    r"""Return the text without control codes; of a line that was overwritten, its last state.

    Example:
        >>> plain_text("10 %\r20 %\r30 %\n\x1b[31mred\x1b[0m\r\n")
        '30 %\nred\n'
    """
    if CONTROL.search(text) is None:
        return text
    text = SEQUENCE.sub("", text)
    text = _OVERSTRUCK.sub("", text)
    text = _LINE_END.sub("\n", text)
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    return CONTROL.sub("", text)


def _last_state(line: str) -> str:
    return last_state(line.split("\r"), lambda state: bool(state.strip())) or "" if "\r" in line else line


def last_state(states: Sequence[T], has_words: Callable[[T], bool]) -> T | None:
    """Return which state of an overwritten line stands there in the end: the last that is not blank."""
    return states[0] if len(states) == 1 else next(filter(has_words, reversed(states)), None)


__all__ = ["CONTROL", "SEQUENCE", "last_state", "plain_text"]
