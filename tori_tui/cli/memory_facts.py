"""What `tori memory` prints and forgets.

Must not open a session: facts are the project's.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC
from pathlib import Path
from typing import Final, TypeVar

from tori_tui.cli import streams
from tori_tui.cli.columns import aligned, wrapped
from tori_tui.cli.traces import working_directory
from tori_tui.config.load import load_settings
from tori_tui.config.project_memory import project_memory
from tori_tui.config.surroundings import real_surroundings
from tori_tui.domain.errors import ToriError
from tori_tui.domain.ids import FactId
from tori_tui.domain.memory import Fact
from tori_tui.memory.base import MemoryStore
from tori_tui.render.safe_text import one_line
from tori_tui.trace.codec import to_json
from tori_tui.workspace.git_head import find_work_tree

FACTS_LIMIT: Final = 100_000
"""Of one listing: all, for every project that a person could look through."""

GOAL_LIMIT_CHARS: Final = 30

_HEAD: Final = ("ID", "LEARNED", "BY", "FOR GOAL", "FACT")

T = TypeVar("T")


def print_facts(cwd: Path | None, words: str, *, as_json: bool) -> None:
    """Print the facts of a project, newest first: all, or those with every word."""
    facts = _with_memory(cwd, lambda store: store.search(words, FACTS_LIMIT))
    if as_json:
        for fact in facts:
            streams.write_out_bytes(to_json(_plain(fact)) + b"\n")
    elif facts:
        rows = [_HEAD, *map(_row, facts)]
        width = streams.terminal_width()
        for line in aligned(rows) if width is None else wrapped(rows, width):
            streams.write_out(line + "\n")
    elif words:
        streams.write_err(f"No fact has all of the words {one_line(words)!r}.\n")
    else:
        streams.write_err("Nothing is remembered of this project yet.\n")


def forget_facts(cwd: Path | None, ids: Sequence[str]) -> None:
    """Forget facts by their ids.

    Raises:
        ToriError: One of them is not there; the others are forgotten all the same.
    """

    async def forget(store: MemoryStore) -> list[str]:
        return [fact_id for fact_id in dict.fromkeys(ids) if not await store.forget(FactId(fact_id))]

    missing = _with_memory(cwd, forget)
    for fact_id in dict.fromkeys(ids):
        if fact_id not in missing:
            streams.write_out(f"Forgotten: fact {one_line(fact_id)}\n")
    if missing:
        named = ", ".join(one_line(fact_id) for fact_id in missing)
        raise ToriError(f"There is no fact {named}.", "`tori memory list` shows the numbers.")


def _with_memory(cwd: Path | None, use: Callable[[MemoryStore], Awaitable[T]]) -> T:
    folder = working_directory(cwd)
    settings = load_settings(os.environ, folder).settings
    root = find_work_tree(folder) or folder

    async def used() -> T:
        store = project_memory(settings.memory.url, root, real_surroundings(os.environ).state_dir)
        try:
            return await use(store)
        finally:
            await store.close()

    return asyncio.run(used())


def _row(fact: Fact) -> tuple[str, ...]:
    learned = fact.created_at.astimezone().strftime("%Y-%m-%d %H:%M")
    return fact.id, learned, fact.author, one_line(fact.goal, GOAL_LIMIT_CHARS), one_line(fact.text)


def _plain(fact: Fact) -> dict[str, object]:
    return {
        "id": fact.id,
        "text": fact.text,
        "created": fact.created_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "by": fact.author,
        "trace_id": fact.trace_id,
        "goal_id": fact.goal_id,
        "goal": fact.goal,
    }


__all__ = ["forget_facts", "print_facts"]
