"""Where the work tree was saved: a line behind what had changed it.

Must not count what changed or go back to it; a front end that can reach the saved trees does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tori_tui.domain.events import CheckpointSaved
from tori_tui.domain.ids import Seq
from tori_tui.domain.rewind import REWIND_REASON
from tori_tui.ui.transcript.block_list import BlockList
from tori_tui.ui.transcript.blocks import CheckpointBlock

Pair = tuple[str, str]
"""The saved tree before, and the one after."""

NOBODYS: Final = (REWIND_REASON,)
"""Reasons of checkpoints that follow no work."""


class SavedTrees:
    """Keys of the checkpoints' blocks. Only what differs from the checkpoint before has one."""

    def __init__(self, blocks: BlockList) -> None:
        self._blocks = blocks
        self._last: str | None = None
        self._seqs: list[Seq] = []
        self._ends: list[int | None] = []
        """What the last block was after each of those records."""
        self._uncounted: dict[int, Pair] = {}

    def stands_at(self, seq: Seq) -> None:
        """Remember where the story stands after a message, for a checkpoint that is told later."""
        self._seqs.append(seq)
        self._ends.append(self._blocks.last_key)

    def saved(self, event: CheckpointSaved, seq: Seq) -> None:
        """Show a checkpoint, where it is of something new."""
        before, self._last = self._last, event.tree
        if before is None or before == event.tree or event.reason in NOBODYS:
            return
        of_seq = event.at_seq or seq
        block = CheckpointBlock(of_seq, before, event.tree, event.turn, event.by, goal_id=event.goal_id)
        at = bisect_right(self._seqs, of_seq)
        key = self._blocks.put_behind(self._ends[at - 1] if at else None, block)
        self._uncounted[key] = (before, event.tree)

    def uncounted(self) -> Mapping[int, Pair]:
        """Return, once, the blocks whose changed files nobody has counted."""
        uncounted, self._uncounted = self._uncounted, {}
        return uncounted

    def counted(self, numbers: Mapping[int, int]) -> None:
        """Show how many files changed, by key."""
        for key, n_files in numbers.items():
            block = self._blocks.get(key)
            if isinstance(block, CheckpointBlock):
                self._blocks.put(key, replace(block, n_files=n_files))

    def go_on_from(self, last: CheckpointSaved | None) -> None:
        """Compare the next checkpoint with this one."""
        self._last = last.tree if last is not None else None

    def forget(self) -> None:
        """Begin anew."""
        self._last = None
        self._seqs.clear()
        self._ends.clear()
        self._uncounted.clear()


__all__ = ["Pair", "SavedTrees"]
