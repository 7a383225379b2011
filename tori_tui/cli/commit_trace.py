"""What `tori commit` does and prints.

Must not commit anything that the user changed himself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from tori_tui.cli import streams
from tori_tui.cli.diff_trace import SavedTrace, open_saved
from tori_tui.domain.errors import UsageError
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.rewind import agent_intervals, goal_ever
from tori_tui.render.safe_text import one_line as safe_line
from tori_tui.workspace.goal_changes import net_changes
from tori_tui.workspace.shadow_git import find_git
from tori_tui.workspace.tree_changes import Change, changes_between
from tori_tui.workspace.user_commits import UserCommits

SUBJECT_LIMIT_CHARS: Final = 72
"""What lists of commits show of a line."""

TREE_MARK: Final = "Tori-Tree: "
"""In a message: the saved tree up to which the work is committed."""


def commit_trace(trace: str, cwd: Path | None, trace_dir: Path | None, *, is_by_goal: bool) -> None:
    """Commit the agent's changes, in all or by goal, and print a line for each commit.

    Raises:
        UsageError: There is no repository.
        CommitFailed: git refused, or a file does not fit; the commits printed so far stand.
    """
    saved = open_saved(trace, cwd, trace_dir)
    git = find_git(os.environ, saved.root)
    if git is None or not (saved.root / ".git").exists():
        raise UsageError(f"{saved.root} is no git repository.", "`git init` makes it one.")
    n_commits = 0
    with saved.shadow.locked(), saved.shadow.blobs() as blobs:
        commits = UserCommits(saved.root, git, os.environ, blobs)
        for layers, message in _parts(saved, commits, is_by_goal=is_by_goal):
            name = commits.commit(layers, message)
            if name is not None:
                n_commits += 1
                streams.write_out(f"{name} {safe_line(message.splitlines()[0])}\n")
    if not n_commits:
        streams.write_err("There is nothing to commit: HEAD holds what the agent changed.\n")


def _parts(
    saved: SavedTrace, commits: UserCommits, *, is_by_goal: bool
) -> Iterator[tuple[Sequence[Mapping[str, Change]], str]]:
    """Yield changes and message of each commit that is still to be made."""
    intervals = agent_intervals(saved.state)
    goal_ids = dict.fromkeys(i.goal_id for i in intervals) if is_by_goal else {None: None}
    for goal_id in goal_ids:
        mine = [i for i in intervals if not is_by_goal or i.goal_id == goal_id]
        head, mark = _message(saved, goal_id)
        done = commits.bodies_with(mark)
        # A goal that was worked on after its commit goes on from there.
        last = max((n for n, i in enumerate(mine, 1) if f"{TREE_MARK}{i.after}" in done), default=0)
        if new := mine[last:]:
            changes = changes_between(saved.shadow, [(i.before, i.after) for i in new])
            yield net_changes(changes), f"{head}{mark}\n{TREE_MARK}{new[-1].after}\n"


def _message(saved: SavedTrace, goal_id: GoalId | None) -> tuple[str, str]:
    """Return a commit's message and the line by which it is known again."""
    if goal_id is None:
        mission = saved.state.tree.current_mission
        subject = one_line(mission.text, SUBJECT_LIMIT_CHARS) if mission else "Work of the agent"
        return f"{subject}\n\n", f"Session {saved.id}"
    goal = goal_ever(saved.state, goal_id)
    body = f"{goal.summary}\n\n" if goal.summary else ""
    subject = one_line(goal.description, SUBJECT_LIMIT_CHARS)
    return f"{subject}\n\n{body}", f"Goal {goal.id} of {saved.id}"


__all__ = ["commit_trace"]
