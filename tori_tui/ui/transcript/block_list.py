"""Blocks under keys that only grow, and what changed since somebody looked.

Must not know what a block means.
"""

from __future__ import annotations

from typing import NamedTuple

from tori_tui.ui.transcript.blocks import Block


class Change(NamedTuple):
    """A block that is new or different, or None where it is gone."""

    key: int
    block: Block | None


class BlockList:
    """Blocks in order. A block keeps its key for life."""

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._next_key = 1
        self._changed: dict[int, None] = {}

    @property
    def items(self) -> tuple[tuple[int, Block], ...]:
        """Every block with its key, in order."""
        return tuple(self._blocks.items())

    @property
    def last_key(self) -> int | None:
        """The key of the newest block that is still there."""
        return next(reversed(self._blocks), None)

    def get(self, key: int | None) -> Block | None:
        """Return the block of a key, or None."""
        return self._blocks.get(key) if key is not None else None

    def add(self, block: Block) -> int:
        """Add a block at the end and return its key."""
        key = self._next_key
        self._next_key += 1
        self.put(key, block)
        return key

    def put(self, key: int, block: Block) -> None:
        """Change a block."""
        self._blocks[key] = block
        self._changed[key] = None

    def put_or_add(self, key: int | None, block: Block) -> int:
        """Change a block if it is there, else add it; return its key."""
        if key is None or key not in self._blocks:
            return self.add(block)
        self.put(key, block)
        return key

    def drop(self, key: int | None) -> None:
        """Remove a block, if it is there."""
        if key is not None and self._blocks.pop(key, None) is not None:
            self._changed[key] = None

    def clear(self) -> None:
        """Remove every block."""
        for key in self._blocks:
            self._changed[key] = None
        self._blocks.clear()

    def take_changes(self) -> list[Change]:
        """Return what changed since the last call, in order."""
        changes = [Change(key, self._blocks.get(key)) for key in self._changed]
        self._changed.clear()
        return changes


__all__ = ["BlockList", "Change"]
