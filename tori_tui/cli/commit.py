"""`tori commit`: the agent's changes as commits of the user's repository, one a goal.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tori_tui.cli import options


def commit(
    trace: options.TraceName = None,
    by_goal: Annotated[bool, typer.Option("--by-goal", help="One commit a goal.")] = False,
    trace_dir: options.TraceDir = None,
    cwd: options.Cwd = None,
) -> None:
    """Commit what the agent changed, your own changes left out; the message comes from goal and summary."""
    from tori_tui.cli.commit_trace import commit_trace

    commit_trace(trace or "", cwd, trace_dir, is_by_goal=by_goal)


__all__ = ["commit"]
