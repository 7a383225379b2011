"""What a rewind came to, in words for the user and for the model.

Pure. Must not decide anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tori_tui.domain.events import Rewound

NAMED_PATHS: Final = 12
"""More would hide the point; the trace has all."""


def rewind_told(event: Rewound) -> str:
    """Return what a rewind came to, for the user."""
    what = {"rewind": "Back to", "undo": "Undone: back from", "redo": "Redone: back to"}[event.how]
    return f"{what} {event.title}. {paths_told(event)} {outside_told(event)}".strip()


def paths_told(event: Rewound) -> str:
    """Return what became of the files; nothing where they were not asked for."""
    if not event.files:
        return ""
    parts = [f"{len(event.restored)} {'path' if len(event.restored) == 1 else 'paths'} restored."]
    if event.kept:
        parts.append(f"Changed by the user since, kept so: {named(event.kept)}.")
    if event.left_alone:
        parts.append(f"Left alone: {named(event.left_alone)}.")
    return " ".join(parts)


def outside_told(event: Rewound) -> str:
    """Return which files were never saved and so stay as they are; a folder stands for all in it."""
    if not event.outside:
        return ""
    n_more = event.n_outside - len(event.outside)
    more = f" and {n_more:,} more" if n_more > 0 else ""
    return f"Never saved (ignored, larger than 5 MB or unreadable): {', '.join(event.outside)}{more}."


def named(paths: Sequence[str], limit: int = NAMED_PATHS) -> str:
    """Return paths by name, the many of a long list as a count."""
    more = f" and {len(paths) - limit:,} more" if len(paths) > limit else ""
    return ", ".join(paths[:limit]) + more


__all__ = ["NAMED_PATHS", "named", "outside_told", "paths_told", "rewind_told"]
