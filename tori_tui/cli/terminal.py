"""The terminal before the app has it: what is typed is kept, and it is asked for its background.

Must not wait: the answer is read when the app is about to start, and if it is late it is dropped.
"""

from __future__ import annotations

import os
import re
import select
import sys
import termios
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

ASK_BACKGROUND: Final = b"\x1b]11;?\x1b\\"
ASK_ATTRIBUTES: Final = b"\x1b[c"
"""Every terminal answers this, so that its answer says that no other will come."""

ANSWER_WITHIN_S: Final = 0.12
"""From the question on; loading takes longer, so that nothing is waited for as a rule."""

LIGHT_FROM: Final = 0.5
"""Share of full brightness from which on a background is light."""

_BACKGROUND = re.compile(rb"\x1b\]11;rgba?:([0-9a-fA-F/]+)(?:\x07|\x1b\\)")
_ATTRIBUTES = re.compile(rb"\x1b\[\?[\d;]*c")

_UNASKED_TERMS: Final = ("dumb", "linux", "unknown")

_LIGHT_INDEXES: Final = ("7", "15")
"""White and bright white, as COLORFGBG names them."""


class EarlyTerminal:
    """Takes the terminal over at once and gives it back at the end, whatever happens."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._restore: Callable[[], None] = lambda: None
        self._asked_at_s: float | None = None
        self._input = b""

    def __enter__(self) -> Self:
        try:
            before = termios.tcgetattr(0)
        except termios.error:
            return self
        self._restore = lambda: termios.tcsetattr(0, termios.TCSADRAIN, before)
        raw = termios.tcgetattr(0)
        # Enter must stay Enter: translated to a line feed it would be a line break.
        raw[0] &= ~termios.ICRNL
        raw[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(0, termios.TCSANOW, raw)
        if self._wants_answer():
            self._asked_at_s = time.monotonic()
            os.write(2, ASK_BACKGROUND + ASK_ATTRIBUTES)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # An answer that nobody read, since the start failed, would stand on the shell's next line.
        self._read_answers()
        self.restore()

    def restore(self) -> None:
        """Set the terminal as it was found; one that is gone needs nothing."""
        try:
            self._restore()
        except termios.error:
            return

    def has_dark_background(self) -> bool:
        """Return whether the background is dark, as the terminal or the environment says; else yes."""
        self._read_answers()
        if found := _BACKGROUND.search(self._input):
            self._input = _BACKGROUND.sub(b"", self._input)
            return _brightness(found.group(1).decode()) < LIGHT_FROM
        index = self._environ.get("COLORFGBG", "").rpartition(";")[2]
        return index not in _LIGHT_INDEXES

    def take_input(self) -> bytes:
        """Return what was typed so far."""
        self._read_answers()
        typed, self._input = self._input, b""
        return _BACKGROUND.sub(b"", typed)

    def _wants_answer(self) -> bool:
        term = self._environ.get("TERM", "")
        return bool(term) and term not in _UNASKED_TERMS and os.isatty(2)

    def _read_answers(self) -> None:
        if self._asked_at_s is None:
            return
        while not _ATTRIBUTES.search(self._input):
            left_s = self._asked_at_s + ANSWER_WITHIN_S - time.monotonic()
            if not select.select([0], [], [], max(0.0, left_s))[0]:
                break
            data = os.read(0, 4_096)
            if not data:
                break
            self._input += data
        self._input = _ATTRIBUTES.sub(b"", self._input)
        self._asked_at_s = None


def _brightness(color: str) -> float:
    """Return the brightness, 0 to 1, of `RR/GG/BB` with any number of digits."""
    parts = color.split("/")[:3]
    red, green, blue = (int(part, 16) / int("f" * len(part), 16) for part in parts)
    return 0.299 * red + 0.587 * green + 0.114 * blue


def is_dumb(environ: Mapping[str, str]) -> bool:
    """Say whether the terminal cannot move its cursor."""
    return environ.get("TERM", "dumb") in ("", "dumb")


def use_utf8() -> None:
    """Let the screen's characters through whatever the locale says."""
    stream = sys.__stderr__
    if stream is not None:
        stream.reconfigure(encoding="utf-8", errors="replace")


__all__ = ["EarlyTerminal", "is_dumb", "use_utf8"]
