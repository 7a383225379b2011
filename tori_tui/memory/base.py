"""What keeps memory across sessions: facts of a project that can be searched, and ordered keys and values.

Must not know what the facts are for, what a session is, or where a backend keeps its bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tori_tui.domain.errors import ToriError
from tori_tui.domain.ids import FactId, TraceId
from tori_tui.domain.memory import Fact, NewFact


class MemoryFailed(ToriError):
    """The store cannot be opened, reached, read or written. What it acknowledged before stays."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What came of adding a fact."""

    fact: Fact
    is_new: bool
    """False where a fact with the same text was there; that one is returned."""


class MemoryStore(Protocol):
    """One project's memory, shared by every session of it. Opens itself at the first use.

    Each method is one atomic step, also among processes; what it returned from is kept. Any of them
    raises `MemoryFailed`, after seconds at most, where the store cannot be used; a later call tries anew.
    """

    async def add(self, new: NewFact) -> Remembered:
        """Remember a fact. The same text again is the same fact, so that a retry is safe."""
        ...

    async def search(self, words: str, limit: int) -> tuple[Fact, ...]:
        """Return facts that hold all the words (see `memory.words`), newest first; no words: the newest."""
        ...

    async def get(self, fact_id: FactId) -> Fact | None:
        """Return a fact by its id."""
        ...

    async def forget(self, fact_id: FactId) -> bool:
        """Remove a fact and every trace of its words; False where there is none."""
        ...

    async def count(self) -> int:
        """Return how many facts there are."""
        ...

    async def set_value(self, namespace: str, key: str, value: str) -> None:
        """Keep a value. A new key goes last; a known one keeps its place."""
        ...

    async def value(self, namespace: str, key: str) -> str | None:
        """Return a value, or None."""
        ...

    async def delete_value(self, namespace: str, key: str) -> bool:
        """Remove a key; False where there is none. Set again, it goes last."""
        ...

    async def values(self, namespace: str) -> tuple[tuple[str, str], ...]:
        """Return all keys with their values, in the order in which the keys were first set."""
        ...

    async def replace_values(self, namespace: str, items: tuple[tuple[str, str], ...]) -> None:
        """Let the namespace hold exactly these, in this order; empty removes it."""
        ...

    async def close(self) -> None:
        """Let go of files and connections. Never fails; a later call opens again."""
        ...


def as_fact(fact_id: FactId, new: NewFact) -> Fact:
    """Return a fact that got its id."""
    return Fact(fact_id, new.text, new.created_at, new.author, new.trace_id, new.goal_id, new.goal)


def session_namespace(session_id: TraceId) -> str:
    """Return the namespace of a session's keys and values."""
    return f"_session_{session_id}"


__all__ = ["MemoryFailed", "MemoryStore", "Remembered", "as_fact", "session_namespace"]
