"""The mission as the user gave it: an argument, or standard input.

Must not read standard input unless the user said so: a caller may leave it open for ever.
"""

from __future__ import annotations

import os
import sys
from typing import Final

from tori_tui.domain.errors import UsageError

MISSION_LIMIT_BYTES: Final = 10_000_000
"""A larger one is a mistake (a wrong file, an endless pipe): no model's window holds it."""


def read_mission(argument: str) -> str:
    """Return the mission's text.

    Args:
        argument: What stood on the command line; `-` is standard input.

    Raises:
        UsageError: It is empty or far too large.
    """
    text = _from_stdin() if argument == "-" else _decoded(os.fsencode(argument))
    if not text.strip():
        where = "Standard input" if argument == "-" else "The mission"
        raise UsageError(f"{where} is empty.", "Say what to do: tori run 'fix the failing test'")
    return text


def _from_stdin() -> str:
    try:
        data = sys.stdin.buffer.read(MISSION_LIMIT_BYTES + 1)
    except OSError as error:
        raise UsageError(f"Standard input cannot be read: {error.strerror}.") from error
    if len(data) > MISSION_LIMIT_BYTES:
        raise UsageError(
            f"Standard input has more than {MISSION_LIMIT_BYTES:,} bytes.",
            "Put it into a file and name that file in the mission.",
        )
    return _decoded(data)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "replace")


__all__ = ["read_mission"]
