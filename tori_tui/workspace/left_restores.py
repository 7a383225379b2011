"""By which names the journals of restores are found beside the checkpoints, and whether any is left.

Must not read one: who looks here has not loaded what restores.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

BEGUN: Final = "restore."
CARRIED_OUT: Final = "restored."


def is_any_left(directory: Path) -> bool:
    """Say whether a kill left a restore unfinished, or its outcome unrecorded, in a shadow directory."""
    return any(path.name.startswith((BEGUN, CARRIED_OUT)) for path in directory.glob("restore*.json"))


__all__ = ["BEGUN", "CARRIED_OUT", "is_any_left"]
