"""What every frozen value shares: equality by fields, a hash, a text for people.

A dataclass would generate these three anew for each class, a third of what making the class costs; there
are so many classes here that a start feels it. Must not know any value.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from typing import TypeVar, cast, dataclass_transform

T = TypeVar("T")


class Value:
    """The base of `@dataclass(frozen=True, slots=True, eq=False, repr=False)` classes."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()
    """Set by the dataclass: the names of its fields, without those that are given by name only."""

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self.__match_args__)

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, name) for name in self.__match_args__))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
        return f"{self.__class__.__qualname__}({fields})"


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def often_made(cls: type[T]) -> type[T]:
    """Make a frozen dataclass like the others, for a value that a long trace makes by the ten thousand.

    The `__init__` of a frozen dataclass lets `object.__setattr__` find each slot by its name. Here a value is
    made as one of an open class with the same slots, filled as any object is, and then closed: a third of the
    time.
    """
    made = dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)(cls)
    type.__setattr__(made, "__new__", _new_of(made))
    type.__setattr__(made, "__getnewargs_ex__", _arguments_of(made))
    return made


def _arguments_of(cls: type) -> Callable[[object], tuple[tuple[()], dict[str, object]]]:
    """Return what tells the arguments by which `copy` and `pickle` make a value anew."""
    names = tuple(own.name for own in fields(cls))
    return lambda value: ((), {name: getattr(value, name) for name in names})


def _new_of(cls: type) -> Callable[..., object]:
    opened = type(cls.__name__, cls.__bases__, {"__slots__": tuple(own.name for own in fields(cls))})
    names: dict[str, object] = {"MISSING": MISSING, "blank": object.__new__, "opened": opened}
    by_place, by_name, lines = ["cls"], list[str](), list[str]()
    for own in fields(cls):
        name, value = own.name, own.name
        (by_name if own.kw_only else by_place).append(f"{name}{_default(own, names)}")
        if own.default_factory is not MISSING:
            names[f"make_{name}"] = own.default_factory
            value = f"make_{name}() if {name} is MISSING else {name}"
        lines.append(f" new.{name} = {value}\n")
    parameters = ", ".join((*by_place, *(("*", *by_name) if by_name else ())))
    # Code of names alone, as `dataclass` makes it for the other classes.
    body = f" new = blank(opened)\n{''.join(lines)} new.__class__ = cls\n return new\n"
    exec(f"def __new__({parameters}):\n{body}", names)
    return cast("Callable[..., object]", names["__new__"])


def _default(own: Field[object], names: dict[str, object]) -> str:
    if own.default_factory is not MISSING:
        return "=MISSING"
    if own.default is MISSING:
        return ""
    names[f"default_{own.name}"] = own.default
    return f"=default_{own.name}"


__all__ = ["Value", "often_made"]
