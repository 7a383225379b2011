"""`goal.json` and `meta.json`: what a trace comes to, for programs that do not fold it themselves.

Must not hold anything that the records do not; both files can be made again from `messages.jsonl`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from tori_tui.domain.goals import Budget, Evidence, Goal, GoalTree, Mission
from tori_tui.domain.ids import TraceId
from tori_tui.domain.state import SessionState
from tori_tui.domain.usage import Usage
from tori_tui.trace.codec import to_json
from tori_tui.trace.errors import NO_ROOM_ERRNOS, TraceDiskFull, TraceError
from tori_tui.trace.migrate import FORMAT_VERSION
from tori_tui.trace.store import JsonlTraceStore

GOAL_NAME: Final = "goal.json"
META_NAME: Final = "meta.json"

TITLE_LIMIT_CHARS: Final = 200
"""Of a mission's text in `meta.json`, which lists read whole; `goal.json` has all of it."""


@dataclass(slots=True)
class Projections:
    """The two files of one trace, written only when what they show has changed."""

    directory: Path
    trace_id: TraceId
    _tree: GoalTree | None = field(default=None, init=False)
    _meta: dict[str, object] | None = field(default=None, init=False)

    def write(self, state: SessionState) -> None:
        """Bring both files up to date.

        Raises:
            TraceDiskFull: There is no room; the files stay as they were.
        """
        if state.tree is not self._tree:
            _replace_file(self.directory, GOAL_NAME, goal_json(state.tree))
            self._tree = state.tree
        meta = meta_json(self.trace_id, state)
        if meta != self._meta:
            _replace_file(self.directory, META_NAME, meta)
            self._meta = meta


def write_projections(directory: Path, trace_id: TraceId, state: SessionState) -> None:
    """Write both files, whatever stands there now."""
    Projections(directory, trace_id).write(state)


def rebuild(directory: Path) -> SessionState:
    """Make both files again from `messages.jsonl` and return the state that it comes to.

    Raises:
        TraceMissing: There is no trace.
        TraceTooNew: It has a newer format.
    """
    with JsonlTraceStore.open(directory, read_only=True) as store:
        state = store.load()
    write_projections(directory, TraceId(directory.name), state)
    return state


def goal_json(tree: GoalTree) -> dict[str, object]:
    """Return the content of `goal.json`."""
    return {
        "missions": [_mission(mission) for mission in tree.missions],
        "mission": tree.mission,
        "current_id": tree.current_id,
        "counters": dict(tree.counters),
        "goals": [_goal(goal) for goal in tree.goals],
    }


def meta_json(trace_id: TraceId, state: SessionState) -> dict[str, object]:
    """Return the content of `meta.json`."""
    facts = state.facts
    return {
        "id": trace_id,
        **({"name": state.name} if state.name else {}),
        "missions": [{"id": m.id, "text": _title(m.text)} for m in state.tree.missions],
        "created": _stamp(state.created_at),
        "updated": _stamp(state.updated_at),
        "status": state.status,
        "model": state.model,
        "cwd": facts.cwd if facts else "",
        "git_head": facts.git_head if facts else "",
        "usage": _usage(state.usage),
        "turns": state.n_turns,
        # A sum that leaves out turns of unknown price is no cost.
        "cost": None if state.has_unpriced_turns else state.cost_usd,
        "contexts": _contexts(state),
        "parent": state.parent or None,
        "format_version": FORMAT_VERSION,
    }


def _contexts(state: SessionState) -> list[dict[str, object]]:
    opened = state.contexts
    ids = dict.fromkeys((*opened, *state.views))
    return [
        {
            "id": context,
            "agent": opened[context].agent if context in opened else "build",
            "model": (opened[context].model if context in opened else "") or state.model,
        }
        for context in ids
    ]


def _mission(mission: Mission) -> dict[str, object]:
    return {
        "id": mission.id,
        "text": mission.text,
        "check": mission.check,
        "goal_ids": list(mission.goal_ids),
    }


def _goal(goal: Goal) -> dict[str, object]:
    return {
        "id": goal.id,
        "description": goal.description,
        "status": goal.status,
        "summary": goal.summary,
        "check": goal.check,
        "evidence": _evidence(goal.evidence),
        "superseded_by": goal.superseded_by,
        "pinned": goal.pinned,
        "budget": _budget(goal.budget),
        "children": [_goal(child) for child in goal.children],
    }


def _evidence(evidence: Evidence | None) -> dict[str, object] | None:
    if evidence is None:
        return None
    return {
        "command": evidence.command,
        "exit_code": evidence.exit_code,
        "tail": evidence.tail,
        "duration_s": evidence.duration_s,
    }


def _budget(budget: Budget | None) -> dict[str, object] | None:
    if budget is None:
        return None
    return {"turns": budget.turns, "cost_usd": budget.cost_usd, "seconds": budget.seconds}


def _usage(usage: Usage) -> dict[str, object]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "cache_written_tokens": usage.cache_written_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
    }


def _title(text: str) -> str:
    return text if len(text) <= TITLE_LIMIT_CHARS else text[: TITLE_LIMIT_CHARS - 1] + "…"


def _stamp(at: datetime | None) -> str | None:
    if at is None:
        return None
    return at.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def _replace_file(directory: Path, name: str, content: dict[str, object]) -> None:
    data = msgspec.json.format(to_json(content), indent=2) + b"\n"
    # One process writes a trace, so the temporary name needs nothing random.
    temporary = f"{directory}/.{name}.new"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, f"{directory}/{name}")
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        if error.errno in NO_ROOM_ERRNOS:
            raise TraceDiskFull(
                f"No room for {name} in {directory}: {error.strerror}.",
                "Free some space; the file is made again from messages.jsonl.",
            ) from error
        raise TraceError(f"Cannot write {name} in {directory}: {error.strerror}.") from error


__all__ = [
    "GOAL_NAME",
    "META_NAME",
    "TITLE_LIMIT_CHARS",
    "Projections",
    "goal_json",
    "meta_json",
    "rebuild",
    "write_projections",
]
