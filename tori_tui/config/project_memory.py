"""Which memory a project has, by the configuration.

Must not open or connect anything.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tori_tui.memory.base import MemoryStore
from tori_tui.memory.late import LateStore, make_store
from tori_tui.workspace.git_head import read_git_origin


def project_memory(
    url: str, root: Path, state_dir: Path, tell: Callable[[str], None] = lambda _: None
) -> LateStore:
    """Return the memory of the project at `root`; it opens itself when it is first used.

    Args:
        url: `[memory] url`.
        root: The work tree.
        state_dir: `$XDG_STATE_HOME/tori`.
        tell: Is told when the memory begins to fail.
    """

    def make() -> MemoryStore:
        return make_store(url, root, state_dir, read_git_origin(root))

    return LateStore(make, tell)


__all__ = ["project_memory"]
