"""Blocks under keys that only grow, and what changed since somebody looked.

Must not know what a block means.
"""

from __future__ import annotations

from collections.abc import Set
from typing import Final, NamedTuple

from tori_tui.ui.transcript.blocks import Block

KEY_STEP: Final = 4
"""Between neighbours stay free keys, for what is told later and happened earlier."""


class Change(NamedTuple):
    """A block that is new or different, or None where it is gone."""

    key: int
    block: Block | None


class BlockList:
    """Blocks in the order of their keys. A block keeps its key for life, unless it is moved to the end."""

    def __init__(self) -> None:
        self._blocks: dict[int, Block] = {}
        self._next_key = KEY_STEP
        self._last_key: int | None = None
        self._changed: dict[int, None] = {}

    @property
    def items(self) -> tuple[tuple[int, Block], ...]:
        """Every block with its key, in order."""
        return tuple(sorted(self._blocks.items(), key=lambda item: item[0]))

    @property
    def last_key(self) -> int | None:
        """The key of the last block."""
        return self._last_key

    def get(self, key: int | None) -> Block | None:
        """Return the block of a key, or None."""
        return self._blocks.get(key) if key is not None else None

    def add(self, block: Block) -> int:
        """Add a block at the end and return its key."""
        key = self._next_key
        self._next_key += KEY_STEP
        self.put(key, block)
        return key

    def put(self, key: int, block: Block) -> None:
        """Change a block."""
        self._blocks[key] = block
        self._changed[key] = None
        if self._last_key is None or key > self._last_key:
            self._last_key = key

    def put_or_add(self, key: int | None, block: Block) -> int:
        """Change a block if it is there, else add it; return its key."""
        if key is None or key not in self._blocks:
            return self.add(block)
        self.put(key, block)
        return key

    def put_behind(self, key: int | None, block: Block) -> int:
        """Add a block behind another and what was put there before; where nothing is free, at the end."""
        free = (place for place in range((key or 0) + 1, (key or 0) + KEY_STEP) if place not in self._blocks)
        place = next(free, None) if key is not None and key != self._last_key else None
        if place is None:
            return self.add(block)
        self.put(place, block)
        return place

    def has_behind(self, key: int, known: Set[int]) -> bool:
        """Say whether behind a block stands one that is not among the known."""
        places = range(key + 1, (self._last_key or key) + 1)
        return any(place in self._blocks and place not in known for place in places)

    def move_to_end(self, key: int) -> int:
        """Let a block follow all others; return its new key."""
        if key == self._last_key:
            return key
        block = self._blocks[key]
        self.drop(key)
        return self.add(block)

    def drop(self, key: int | None) -> None:
        """Remove a block, if it is there."""
        if key is None or self._blocks.pop(key, None) is None:
            return
        self._changed[key] = None
        if key == self._last_key:
            self._last_key = max(self._blocks, default=None)

    def clear(self) -> None:
        """Remove every block."""
        for key in self._blocks:
            self._changed[key] = None
        self._blocks.clear()
        self._last_key = None

    def take_changes(self) -> list[Change]:
        """Return what changed since the last call."""
        changes = [Change(key, self._blocks.get(key)) for key in self._changed]
        self._changed.clear()
        return changes


__all__ = ["KEY_STEP", "BlockList", "Change"]
