"""An append-only sequence whose versions share one list: cheap to change, cheap to freeze.

Must not offer any way to change an entry that is already there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class Log(Sequence[T], Generic[T]):
    """The first `length` entries of a list that only ever grows.

    Appending to the newest version is amortised O(1) and returns a new version that shares the
    list; appending to an older version copies, so no version ever sees another's entries.
    """

    __slots__ = ("_length", "_shared")

    def __init__(self, entries: Iterable[T] = ()) -> None:
        self._shared: list[T] = list(entries)
        self._length = len(self._shared)

    def appended(self, entry: T) -> Log[T]:
        """Return the log with one more entry at its end."""
        shared = self._shared if len(self._shared) == self._length else self._shared[: self._length]
        shared.append(entry)
        new: Log[T] = Log.__new__(Log)
        new._shared = shared
        new._length = self._length + 1
        return new

    def replaced(self, index: int, entry: T) -> Log[T]:
        """Return a copy in which one entry is another; O(n), for the rare correction."""
        copy = self._shared[: self._length]
        copy[index] = entry
        return Log(copy)

    def with_tail(self, start: int, entries: Iterable[T]) -> Log[T]:
        """Return a copy in which the entries from `start` on are these; O(n) once, not for each."""
        return Log((*self._shared[:start], *entries))

    def first_at(self, value: int, key: Callable[[T], int]) -> int:
        """Return the place of the first entry whose key is not below a value, or the length; keys ascend."""
        return bisect_left(self._shared, value, hi=self._length, key=key)

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            if step == 1:
                return tuple(self._shared[start:stop])
            return tuple(self._shared[i] for i in range(start, stop, step))
        if not -self._length <= index < self._length:
            raise IndexError(index)
        return self._shared[index if index >= 0 else self._length + index]

    def __iter__(self) -> Iterator[T]:
        return islice(self._shared, self._length)

    def __reversed__(self) -> Iterator[T]:
        return map(self._shared.__getitem__, range(self._length - 1, -1, -1))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Log):
            return NotImplemented
        return len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(self._length)

    def __repr__(self) -> str:
        return f"Log({self._length} entries)"


__all__ = ["Log"]
