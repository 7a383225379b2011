"""A new session that begins where another one stands now, over the files as they are.

Must not change the other one, nor a file.
"""

from __future__ import annotations

import os
from pathlib import Path

from tori_tui.cli.diff_trace import shadow_of
from tori_tui.config.surroundings import real_surroundings
from tori_tui.domain.ids import Seq
from tori_tui.trace.catalog import new_trace_id
from tori_tui.trace.fork import fork_trace
from tori_tui.trace.store import JsonlTraceStore
from tori_tui.workspace.git_head import find_work_tree
from tori_tui.workspace.tree_copy import keep_for


def fork_at_end(source: Path, cwd: Path) -> str:
    """Fork a session as it stands and return the new one's id.

    Raises:
        ToriError: The trace cannot be read, the new one not written, or there is no git program.
    """
    world = real_surroundings(os.environ)
    now = world.clock.now()
    name = new_trace_id(now, world.new_token())
    with JsonlTraceStore.open(source, read_only=True) as store:
        state = store.load()
    trees = fork_trace(source, source.parent / name, Seq(state.next_seq - 1), now, "its end")
    if trees:
        keep_for(shadow_of(find_work_tree(cwd) or cwd), name, trees)
    return name


__all__ = ["fork_at_end"]
