"""What a kill may have left of a session: commands that still run, a restore that is half done.

Must not load what acts on replies: a session that was not killed opens without it.
"""

from __future__ import annotations

from pathlib import Path

from tori_tui.runtime.open_calls import stop_left_over
from tori_tui.workspace.left_restores import is_any_left
from tori_tui.workspace.shadow_git import shadow_directory


def is_restore_left(state_dir: Path, root: Path) -> bool:
    """Say whether a restore in a work tree has to be finished or recorded."""
    return is_any_left(shadow_directory(state_dir, root))


__all__ = ["is_restore_left", "stop_left_over"]
