"""How the words of a command fall into options, their values and operands.

Must not know any program; what a program takes is handed in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Options:
    """What a program may be given."""

    short: str = ""
    """Letters that are harmless; a 0 stands for every number."""
    long: frozenset[str] = frozenset()
    """Without their value. GNU programs take abbreviations, so only exact names count."""
    short_values: str = ""
    """Letters whose value is the next word where nothing is glued to them."""
    long_values: frozenset[str] = frozenset()
    """The same, of long ones."""
    most_operands: int | None = None
    takes_any: bool = False
    """No option of it writes, runs anything or names a file to write."""


@dataclass(slots=True)
class Given:
    """The words of a command, sorted."""

    options: list[str] = field(default_factory=list)
    """Short ones as single letters with their dash, long ones without a value."""
    values: list[tuple[str, str]] = field(default_factory=list)
    """Option and its value."""
    operands: list[str] = field(default_factory=list)
    is_odd: bool = False
    """Some option is not known to be harmless."""


def options(
    short: str = "",
    long: str = "",
    most_operands: int | None = None,
    *,
    values: str = "",
    long_values: str = "",
    takes_any: bool = False,
) -> Options:
    """Write down what a program takes, as text because it is read that way."""
    with_values = frozenset(long_values.split())
    return Options(
        short + values, frozenset(long.split()) | with_values, values, with_values, most_operands, takes_any
    )


def sort_words(known: Options, rest: Sequence[str]) -> Given:
    """Sort the words after a program's name as getopt does, operands and options in any order."""
    given = Given()
    waiting = ""
    for index, word in enumerate(rest):
        if waiting:
            given.values.append((waiting, word))
            waiting = ""
        elif word == "--":
            given.operands.extend(rest[index + 1 :])
            break
        elif word.startswith("--"):
            waiting = _take_long(known, word, given)
        elif word.startswith("-") and len(word) > 1:
            waiting = _take_short(known, word[1:], given)
        else:
            given.operands.append(word)
    if known.most_operands is not None and len(given.operands) > known.most_operands:
        given.is_odd = True
    return given


def _take_long(known: Options, word: str, given: Given) -> str:
    name, equals, value = word.partition("=")
    given.options.append(name)
    if equals:
        given.values.append((name, value))
    if name not in known.long and not known.takes_any:
        given.is_odd = True
    return name if name in known.long_values and not equals else ""


def _take_short(known: Options, letters: str, given: Given) -> str:
    """Take a cluster of short options; return the one that still waits for its value."""
    for index, letter in enumerate(letters):
        if letter.isdigit() and "0" in known.short:
            continue
        if letter not in known.short and not known.takes_any:
            # `-k2,2`, `-f1-3`, `-d,`: a value without letters, glued to its option.
            is_value = index > 0 and not any(char.isalpha() or char in "/." for char in letters[index:])
            given.is_odd = given.is_odd or not is_value
            return ""
        given.options.append(f"-{letter}")
        if letter in known.short_values:
            if index + 1 < len(letters):
                given.values.append((f"-{letter}", letters[index + 1 :]))
                return ""
            return f"-{letter}"
    return ""


__all__ = ["Given", "Options", "options", "sort_words"]
