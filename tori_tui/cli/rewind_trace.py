"""What `tori rewind` does and prints.

Must not decide which files go back.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tori_tui.cli import streams
from tori_tui.cli.opened_rewinding import opened_rewinding
from tori_tui.cli.traces import working_directory
from tori_tui.domain.errors import UsageError
from tori_tui.domain.goal_call import parse_goal_id
from tori_tui.domain.rewind import rewind_points
from tori_tui.domain.rewind_words import outside_told, rewind_told
from tori_tui.render.safe_text import one_line
from tori_tui.runtime.rewinding import Rewinding, RewindPlan
from tori_tui.workspace.restore_plan import Step


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where to, and what of it."""

    goal: str | None
    turn: int | None
    files: bool
    messages: bool
    how: Literal["rewind", "undo", "redo"]


def rewind_trace(
    trace: str, wanted: Wanted, cwd: Path | None, trace_dir: Path | None, *, is_dry: bool
) -> None:
    """Go back in a trace, or say what that would do.

    Raises:
        UsageError: It is not said where to.
        RewindRefused: There is nothing to go back to.
        TraceError: The trace cannot be opened for writing.
    """
    asyncio.run(_rewind(trace, wanted, working_directory(cwd), trace_dir, is_dry=is_dry))


async def _rewind(trace: str, wanted: Wanted, cwd: Path, trace_dir: Path | None, *, is_dry: bool) -> None:
    async with opened_rewinding(cwd, trace_dir, trace) as rewinding:
        plan = await _planned(rewinding, wanted)
        if is_dry:
            _print_plan(plan)
            return
        event = await rewinding.carry_out(plan)
        streams.write_out(one_line(rewind_told(event)) + "\n")


async def _planned(rewinding: Rewinding, wanted: Wanted) -> RewindPlan:
    if wanted.how != "rewind":
        if wanted.goal is not None or wanted.turn is not None:
            raise UsageError(
                f"--{wanted.how} knows where to: it takes neither --goal nor --turn.", "Ask for one of them."
            )
        return await rewinding.plan_next(wanted.how)
    if (wanted.goal is None) == (wanted.turn is None):
        points = "; ".join(point.title for point in rewind_points(rewinding.state) if point.goal_id)
        raise UsageError(
            "Say where to go back to: --goal G or --turn N.", f"Goals: {points or 'none has begun'}."
        )
    goal = parse_goal_id(wanted.goal) if wanted.goal else None
    return await rewinding.plan(goal=goal, turn=wanted.turn, files=wanted.files, messages=wanted.messages)


def _print_plan(plan: RewindPlan) -> None:
    streams.write_out(f"Would go back to {one_line(plan.event.title)}.\n")
    if plan.event.messages:
        streams.write_out("Plan and messages go back.\n")
    for step in plan.files.steps:
        streams.write_out(f"{_verb(step)} {one_line(step.path)}\n")
    for path in plan.files.kept:
        streams.write_out(f"keep    {one_line(path)} (changed by you since)\n")
    for path in plan.files.left_alone:
        streams.write_out(f"leave   {one_line(path)} (outside the checkpoints)\n")
    if told := outside_told(plan.event):
        streams.write_out(f"{one_line(told)}\n")


def _verb(step: Step) -> str:
    if step.then is None:
        return "delete "
    return "restore" if step.now is not None else "create "


__all__ = ["Wanted", "rewind_trace"]
