"""What `tori blame` prints.

Must not change anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from tori_tui.cli import streams
from tori_tui.cli.diff_trace import shadow_of
from tori_tui.cli.traces import trace_root, working_directory
from tori_tui.domain.errors import UsageError
from tori_tui.domain.ids import GoalId, TraceId
from tori_tui.domain.rewind import REWIND_REASON, RewindRefused, goal_ever
from tori_tui.domain.state import SessionState
from tori_tui.render.safe_text import one_line
from tori_tui.trace.catalog import list_traces
from tori_tui.trace.store import JsonlTraceStore
from tori_tui.workspace.git_head import find_work_tree
from tori_tui.workspace.line_origins import line_origins
from tori_tui.workspace.shadow_git import BlobReader

TITLE_LIMIT_CHARS: Final = 60


@dataclass(frozen=True, slots=True)
class _Version:
    """A saved tree, and who made it of the one before."""

    at: datetime
    tree: str
    author: str
    is_work: bool
    """Of the agent; else what changed came by the user's hands or by a rewind."""


def print_blame(place: str, cwd: Path | None, trace_dir: Path | None) -> None:
    """Print who wrote a line, or each line of a file.

    Raises:
        UsageError: There is no such file or line.
    """
    here = working_directory(cwd)
    root = find_work_tree(here) or here
    name, number = _place(place, here)
    path = (here / name).resolve()
    if not path.is_file() or not path.is_relative_to(root.resolve()):
        raise UsageError(f"There is no file {name} in {root}.")
    if "\n" in name:
        raise UsageError("A file whose name has a line break cannot be asked for.")
    relative = path.relative_to(root.resolve()).as_posix()
    shadow = shadow_of(root)
    with shadow.locked(), shadow.blobs() as blobs:
        versions = [*_texts(blobs, relative, _versions(trace_root(cwd, trace_dir)))]
    now = _lines(path.read_bytes())
    origins = line_origins([*versions, ("you, since the last checkpoint", now, False)])
    if number is not None and not 0 < number <= len(now):
        raise UsageError(f"{name} has {len(now)} lines, so there is no line {number}.")
    for line in range(1, len(now) + 1) if number is None else (number,):
        streams.write_out(f"{line}: {one_line(origins[line - 1])}: {one_line(now[line - 1])}\n")


def _place(place: str, here: Path) -> tuple[str, int | None]:
    name, colon, line = place.rpartition(":")
    if colon and line.isdecimal() and not (here / place).exists():
        return name, int(line)
    return place, None


def _versions(trace_root: Path) -> list[_Version]:
    """Return the saved trees of every session, in the order of time."""
    found: list[_Version] = []
    for entry in list_traces(trace_root):
        with JsonlTraceStore.open(entry.path, read_only=True) as store:
            state = store.load()
        for point in state.past.checkpoints:
            event = point.event
            is_work = event.by == "agent" and event.reason != REWIND_REASON
            author = _author(state, entry.id, event.goal_id, event.turn) if is_work else "you"
            found.append(_Version(point.at, event.tree, author, is_work))
    return sorted(found, key=lambda version: version.at)


def _author(state: SessionState, trace_id: TraceId, goal_id: GoalId | None, turn: int) -> str:
    where = f"({trace_id}, turn {turn})"
    if goal_id is None:
        mission = state.tree.current_mission
        return f"mission {one_line(mission.text, TITLE_LIMIT_CHARS) if mission else ''} {where}"
    try:
        goal = goal_ever(state, goal_id)
    except RewindRefused:
        return f"goal {goal_id} {where}"
    return f"goal {goal.id} {one_line(goal.description, TITLE_LIMIT_CHARS)} {where}"


def _texts(blobs: BlobReader, path: str, versions: list[_Version]) -> Iterator[tuple[str, list[str], bool]]:
    last: bytes | None = None
    for index, version in enumerate(versions):
        data = blobs.read(f"{version.tree}:{path}")
        if data != last:
            # What was there at the first look was there before tori.
            yield (
                version.author if index else "before tori",
                _lines(data or b""),
                version.is_work,
            )
        last = data


def _lines(data: bytes) -> list[str]:
    return data.decode("utf-8", "replace").splitlines()


__all__ = ["print_blame"]
