"""Memory that ends with the process: for tests, and for who wants nothing kept.

Must not write anything.
"""

from __future__ import annotations

from tori_tui.domain.ids import FactId
from tori_tui.domain.memory import Fact, NewFact
from tori_tui.memory.base import Remembered, as_fact
from tori_tui.memory.words import has_all, terms_of, wanted_terms


class InMemoryStore:
    """A `MemoryStore` of dictionaries."""

    def __init__(self) -> None:
        self._facts: dict[FactId, Fact] = {}
        self._terms: dict[FactId, frozenset[str]] = {}
        self._ids_by_text: dict[str, FactId] = {}
        self._n_given = 0
        self._namespaces: dict[str, dict[str, str]] = {}

    async def add(self, new: NewFact) -> Remembered:
        """Remember a fact."""
        known = self._ids_by_text.get(new.text)
        if known is not None:
            return Remembered(self._facts[known], is_new=False)
        self._n_given += 1
        fact = as_fact(FactId(str(self._n_given)), new)
        self._facts[fact.id] = fact
        self._terms[fact.id] = terms_of(fact.text)
        self._ids_by_text[fact.text] = fact.id
        return Remembered(fact, is_new=True)

    async def search(self, words: str, limit: int) -> tuple[Fact, ...]:
        """Return facts that hold all the words, newest first."""
        wanted = wanted_terms(words)
        if words.strip() and not wanted:
            return ()
        found = (fact for fact in reversed(self._facts.values()) if has_all(self._terms[fact.id], wanted))
        return tuple(fact for fact, _ in zip(found, range(limit), strict=False))

    async def get(self, fact_id: FactId) -> Fact | None:
        """Return a fact by its id."""
        return self._facts.get(fact_id)

    async def forget(self, fact_id: FactId) -> bool:
        """Remove a fact."""
        fact = self._facts.pop(fact_id, None)
        if fact is None:
            return False
        del self._terms[fact_id], self._ids_by_text[fact.text]
        return True

    async def count(self) -> int:
        """Return how many facts there are."""
        return len(self._facts)

    async def set_value(self, namespace: str, key: str, value: str) -> None:
        """Keep a value."""
        self._namespaces.setdefault(namespace, {})[key] = value

    async def value(self, namespace: str, key: str) -> str | None:
        """Return a value, or None."""
        return self._namespaces.get(namespace, {}).get(key)

    async def delete_value(self, namespace: str, key: str) -> bool:
        """Remove a key."""
        return self._namespaces.get(namespace, {}).pop(key, None) is not None

    async def values(self, namespace: str) -> tuple[tuple[str, str], ...]:
        """Return all keys with their values, in order."""
        return tuple(self._namespaces.get(namespace, {}).items())

    async def replace_values(self, namespace: str, items: tuple[tuple[str, str], ...]) -> None:
        """Let the namespace hold exactly these."""
        self._namespaces[namespace] = dict(items)

    async def close(self) -> None:
        """Do nothing: what is remembered stays until the process ends."""


__all__ = ["InMemoryStore"]
