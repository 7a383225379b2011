"""After a crash: whether a file tool had its effect, told by the hashes that it wrote down before.

Must not repair anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import FileIntent
from tori_tui.workspace.files import sha256_of

Outcome = Literal["done", "not_applied", "changed"]
"""`changed`: neither the content before nor the intended one, or some files of several."""


def outcome_of(root: Path, intents: Iterable[FileIntent]) -> Outcome:
    """Compare the files with what was there and what was intended."""
    outcomes = {_outcome(root, intent) for intent in intents}
    return outcomes.pop() if len(outcomes) == 1 else "changed"


def _outcome(root: Path, intent: FileIntent) -> Outcome:
    try:
        now = sha256_of(root / intent.path)
    except (ToriError, OSError):
        return "changed"
    if now == intent.after_sha256:
        return "done"
    return "not_applied" if now == intent.before_sha256 else "changed"


__all__ = ["Outcome", "outcome_of"]
