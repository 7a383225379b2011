"""What every frozen value shares: equality by fields, a hash, a text for people.

A dataclass would generate these three anew for each class, a third of what making the class costs; there
are so many classes here that a start feels it. Must not know any value.
"""

from __future__ import annotations


class Value:
    """The base of `@dataclass(frozen=True, slots=True, eq=False, repr=False)` classes."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    """Set by the dataclass: the names of its fields."""

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.__match_args__))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{self.__class__.__qualname__}({fields})"


__all__ = ["Value"]
