"""`tori resume --fork`: a new session that begins where an old one stood.

Must not go on with the session; `resume` does.
"""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tori_tui.cli import streams
from tori_tui.cli.diff_trace import shadow_of
from tori_tui.cli.opened_rewinding import opened_rewinding
from tori_tui.cli.traces import trace_root, working_directory
from tori_tui.config.surroundings import real_surroundings
from tori_tui.domain.errors import UsageError
from tori_tui.domain.goal_call import parse_goal_id
from tori_tui.domain.ids import GoalId
from tori_tui.domain.rewind import RewindPoint, find_point, saved_since
from tori_tui.trace.catalog import TRACES_NAME, find_trace, new_trace_id
from tori_tui.trace.fork import fork_trace
from tori_tui.trace.store import JsonlTraceStore
from tori_tui.workspace.git_head import find_work_tree
from tori_tui.workspace.tree_copy import borrow_objects, copy_tree, keep_for

TURN_PREFIX: Final = "turn:"


@dataclass(frozen=True, slots=True)
class Forked:
    """Where to go on."""

    trace: Path
    cwd: Path


def fork(trace: str, place: str, copy: Path | None, cwd: Path | None, trace_dir: Path | None) -> Forked:
    """Fork a session at a goal (`2`) or a turn (`turn:7`), files taken back in place or copied to a folder.

    Raises:
        RewindRefused: There is no such goal or turn.
        UsageError: The folder for the copy holds something.
        TraceError: A trace cannot be read or written.
    """
    goal, turn = _place(place)
    here = working_directory(cwd)
    source = find_trace(trace_root(cwd, trace_dir), trace)
    with JsonlTraceStore.open(source, read_only=True) as store:
        state = store.load()
    point = find_point(state, goal=goal, turn=turn)
    world = real_surroundings(os.environ)
    now = world.clock.now()
    name = new_trace_id(now, world.new_token())
    root = find_work_tree(here) or here
    shadow = shadow_of(root)
    if copy is None:
        asyncio.run(_take_files_back(source, point, here))
        target, working = source.parent / name, here
    else:
        saved = saved_since(state, point.seq)
        if not saved:
            raise UsageError("Nothing was saved of this session's files, so they cannot be copied.")
        copy_tree(shadow, saved[0].event.tree, copy, saved[0].event.empty_folders)
        target, working = copy.resolve() / TRACES_NAME / name, copy.resolve()
    trees = fork_trace(source, target, point.seq, now, point.title)
    if copy is not None:
        lender, shadow = shadow, shadow_of(working)
        borrow_objects(shadow, lender)
        keep_for(lender, name, trees)
    keep_for(shadow, name, trees)
    streams.write_err(f"Forked at {point.title}: {name}\n")
    return Forked(target, working)


def _place(place: str) -> tuple[GoalId | None, int | None]:
    if not place.startswith(TURN_PREFIX):
        return parse_goal_id(place), None
    number = place.removeprefix(TURN_PREFIX)
    if not number.isdecimal():
        raise UsageError(f"{place!r} is no turn.", "Say --fork turn:7, or --fork 2 for a goal.")
    return None, int(number)


async def _take_files_back(source: Path, point: RewindPoint, here: Path) -> None:
    """Take the files back in the old session, where that can be undone too."""
    async with opened_rewinding(here, source.parent, str(source)) as rewinding:
        plan = await rewinding.plan(goal=point.goal_id, turn=point.turn, messages=False)
        await rewinding.carry_out(plan, tells_model=False)


__all__ = ["Forked", "fork"]
