"""What `tori diff` prints, and where a command finds a trace with its checkpoints.

Must not change the trace or the work tree.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tori_tui.cli import streams
from tori_tui.cli.traces import trace_root, working_directory
from tori_tui.config.surroundings import real_surroundings
from tori_tui.domain.errors import UsageError
from tori_tui.domain.goal_call import parse_goal_id
from tori_tui.domain.ids import GoalId, TraceId
from tori_tui.domain.rewind import agent_intervals
from tori_tui.domain.state import SessionState
from tori_tui.render.safe_text import safe_text
from tori_tui.trace.catalog import find_trace
from tori_tui.trace.store import JsonlTraceStore
from tori_tui.workspace.checkpoints import Checkpoints
from tori_tui.workspace.git_head import find_work_tree
from tori_tui.workspace.goal_changes import layer_diff, net_changes
from tori_tui.workspace.shadow_git import ShadowGit
from tori_tui.workspace.tree_changes import Change, changes_between


@dataclass(frozen=True, slots=True)
class SavedTrace:
    """A trace that is read, and the checkpoints of the work tree."""

    id: TraceId
    state: SessionState
    root: Path
    shadow: ShadowGit


def open_saved(trace: str, cwd: Path | None, trace_dir: Path | None) -> SavedTrace:
    """Return a trace named by id, prefix or path, with the checkpoints.

    Raises:
        TraceError: It is not there, or has a newer format.
        UsageError: There is no git program.
    """
    directory = find_trace(trace_root(cwd, trace_dir), trace)
    with JsonlTraceStore.open(directory, read_only=True) as store:
        state = store.load()
    here = working_directory(cwd)
    root = find_work_tree(here) or here
    return SavedTrace(TraceId(directory.resolve().name), state, root, shadow_of(root))


def shadow_of(root: Path) -> ShadowGit:
    """Return the checkpoints of a work tree.

    Raises:
        UsageError: There is no git program.
    """
    checkpoints = Checkpoints.open(root, real_surroundings(os.environ).state_dir, os.environ)
    if checkpoints is None:
        raise UsageError("Checkpoints need a git program, and none is on the PATH.")
    return checkpoints.shadow


def print_diff(trace: str, goal: str | None, cwd: Path | None, trace_dir: Path | None) -> None:
    """Print the agent's changes as a unified diff.

    Raises:
        RewindRefused: The session never had such a goal.
    """
    saved = open_saved(trace, cwd, trace_dir)
    with saved.shadow.locked():
        layers = changes_of(saved, parse_goal_id(goal) if goal else None)
        texts = [layer_diff(saved.shadow, layer) for layer in layers]
    for text in texts:
        streams.write_out(safe_text(text))
    if not texts:
        what = f"goal {goal}" if goal else "this session"
        streams.write_err(f"No change of a file is known of {what}.\n")


def changes_of(saved: SavedTrace, goal: GoalId | None) -> list[dict[str, Change]]:
    """Return what the agent changed, for one goal or in all. Call it inside `locked`."""
    intervals = agent_intervals(saved.state, goal)
    return net_changes(changes_between(saved.shadow, [(i.before, i.after) for i in intervals]))


__all__ = ["SavedTrace", "changes_of", "open_saved", "print_diff", "shadow_of"]
