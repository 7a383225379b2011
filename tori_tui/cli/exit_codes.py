"""What the exit code of `tori run` and `tori resume` says.

Must not change without a new major version: scripts rely on it.
"""

from __future__ import annotations

from typing import Final

DONE: Final = 0
"""Done, and every check green."""
FAILED: Final = 1
"""Failed or aborted."""
USAGE: Final = 2
"""Wrong usage or configuration."""
INCOMPLETE: Final = 3
"""Stopped with goals open, or something it needed was denied."""
LIMIT: Final = 4
"""A limit of turns, tokens, cost or time."""
PROVIDER: Final = 5
"""The model's provider failed."""
INTERRUPTED: Final = 130
"""Interrupted by the user or by a signal."""

MEANINGS: Final = {
    DONE: "done, and every check green",
    FAILED: "failed or aborted",
    USAGE: "wrong usage or configuration",
    INCOMPLETE: "stopped with goals open, or with calls denied because nobody could approve them",
    LIMIT: "a limit was reached",
    PROVIDER: "the provider failed",
    INTERRUPTED: "interrupted",
}

__all__ = ["DONE", "FAILED", "INCOMPLETE", "INTERRUPTED", "LIMIT", "MEANINGS", "PROVIDER", "USAGE"]
