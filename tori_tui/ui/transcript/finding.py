"""Finding words in the conversation, in what is folded too.

Must not draw or move anything; it says where hits are, the view goes there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tori_tui.ui.transcript.blocks import (
    AnswerBlock,
    Block,
    CallBlock,
    CheckpointBlock,
    CommentBlock,
    DiffBlock,
    FileBlock,
    FoldBlock,
    GoalBlock,
    NoticeBlock,
    PromptBlock,
    RetryBlock,
    RunBlock,
    ThinkingBlock,
)
from tori_tui.ui.transcript.lines import GUTTER_CELLS
from tori_tui.ui.transcript.slots import Slots
from tori_tui.ui.transcript.viewport import Place


@dataclass(frozen=True, slots=True)
class Found:
    """How a search stands."""

    words: str = ""
    n_blocks: int = 0
    """Blocks with a hit."""
    n_hits: int = 0
    at: int = 0
    """Which of the blocks is shown, from 1; 0 where none is."""


class Finder:
    """Looks for words, whatever their case, from block to block."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self.words = ""
        self.at_key: int | None = None
        """The block of the hit that was gone to last."""

    def start(self, words: str) -> None:
        """Look for other words from now on."""
        self.words = words.lower()

    def found(self) -> Found:
        """Count hits, and say at which block the search is."""
        keys = list(self._hit_keys())
        at = keys.index(self.at_key) + 1 if self.at_key in keys else 0
        n_hits = sum(block_text(self._block(key)).lower().count(self.words) for key in keys)
        return Found(self.words, len(keys), n_hits, at)

    def next_key(self, step: int, start_key: int | None, *, stays: bool = False) -> int | None:
        """Return the next (1) or previous (-1) block with a hit, going round at the ends.

        Args:
            step: The direction.
            start_key: Where to begin while no hit was gone to; None is the end.
            stays: Whether the block that the search is at may be the answer.
        """
        keys = list(self._hit_keys())
        if not keys:
            self.at_key = None
            return None
        start = self.at_key if self.at_key is not None else start_key
        start = keys[-1] if start is None else start
        stays = stays or self.at_key is None
        if step > 0:
            later = [key for key in keys if key > start or (stays and key == start)]
            self.at_key = later[0] if later else keys[0]
        else:
            earlier = [key for key in keys if key < start or (stays and key == start)]
            self.at_key = earlier[-1] if earlier else keys[-1]
        return self.at_key

    def place_in(self, key: int) -> Place:
        """Return the line of a block, as it is drawn now, that shows the first hit; else its first."""
        lines = [
            strip.text[GUTTER_CELLS:].strip().lower()
            for strip in self._slots.lines(self._slots.index_of(key))
        ]
        for at, line in enumerate(lines):
            following = lines[at + 1] if at + 1 < len(lines) else ""
            # Words may be wrapped: between letters of Chinese, else at a blank.
            if self.words in line or self.words in line + following or self.words in f"{line} {following}":
                is_here = self.words in line or self.words not in following
                return Place(key, at if is_here else at + 1)
        return Place(key, 0)

    def _hit_keys(self) -> Iterator[int]:
        if not self.words:
            return
        for index in range(len(self._slots)):
            slot = self._slots.at(index)
            if self.words in block_text(slot.block).lower():
                yield slot.key

    def _block(self, key: int) -> Block:
        return self._slots.at(self._slots.index_of(key)).block


def highlighted(strip: Strip, words: str, style: Style) -> Strip:
    """Return a line with each hit in another style."""
    text = strip.text
    lowered = text.lower()
    if not words or words not in lowered or len(lowered) != len(text):
        return strip
    pieces: list[Strip] = []
    done_cells = at = 0
    while (start := lowered.find(words, at)) >= 0:
        at = start + len(words)
        first, last = cell_len(text[:start]), cell_len(text[:at])
        pieces.append(strip.crop(done_cells, first))
        pieces.append(Strip([Segment(s.text, (s.style or style) + style) for s in strip.crop(first, last)]))
        done_cells = last
    return Strip.join([*pieces, strip.crop(done_cells)])


def block_text(block: Block) -> str:
    """Return all that a block says, folded or not."""
    match block:
        case PromptBlock() | AnswerBlock() | ThinkingBlock():
            return block.text
        case CommentBlock():
            return f"{block.text}\n{block.fate}\n{block.note}"
        case CallBlock():
            parts = (block.name, *_values(block.arguments), block.title, block.detail, block.output)
            return "\n".join((*parts, str(block.details.get("diff", ""))))
        case GoalBlock():
            return f"{block.goal_id or ''} {block.description}"
        case FoldBlock():
            return "\n".join((block.reason, *(fold.text for fold in block.folds)))
        case NoticeBlock():
            return f"{block.text}\n{block.hint}"
        case RetryBlock():
            return block.reason
        case RunBlock():
            return f"{block.status} {block.reason}"
        case CheckpointBlock():
            return f"turn {block.turn}"
        case DiffBlock():
            return block.diff
        case FileBlock():
            return block.text
        case _:
            assert_never(block)


def _values(arguments: Mapping[str, object]) -> Iterator[str]:
    for value in arguments.values():
        yield value if isinstance(value, str) else str(value)


__all__ = ["Finder", "Found", "block_text", "highlighted"]
