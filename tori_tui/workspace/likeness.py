"""How alike two sequences are, by rapidfuzz, loaded when it is first needed: it would slow every start.

Must not hold any rule about what is alike enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import NamedTuple, Protocol


class Opcode(NamedTuple):
    """One step from the first sequence to the second."""

    tag: str
    """`equal`, `insert`, `delete` or `replace`."""
    src_start: int
    src_end: int
    dest_start: int
    dest_end: int


def similarity(one: Sequence[Hashable], other: Sequence[Hashable], cutoff: float = 0.0) -> float:
    """Return from 0 to 1 how alike two sequences are; 0 below the cutoff."""
    return _indel().normalized_similarity(one, other, score_cutoff=cutoff)


def opcodes(one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterable[Opcode]:
    """Yield the steps that make the first sequence the second, in order."""
    for code in _indel().opcodes(one, other):
        yield Opcode(code.tag, code.src_start, code.src_end, code.dest_start, code.dest_end)


class _Indel(Protocol):
    """What is used of rapidfuzz: the distance by insertions and deletions."""

    def normalized_similarity(
        self, one: Sequence[Hashable], other: Sequence[Hashable], *, score_cutoff: float
    ) -> float: ...

    def opcodes(self, one: Sequence[Hashable], other: Sequence[Hashable]) -> Iterable[Opcode]: ...


@cache
def _indel() -> _Indel:
    found: _Indel = import_module("rapidfuzz.distance").Indel
    return found


__all__ = ["Opcode", "opcodes", "similarity"]
