"""Which commands print names of files in the work tree, for what `xargs` makes of them.

Must not take a command for one that prints names if it may print anything else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tori_tui.permission.protected_paths import words
from tori_tui.permission.shell.readers import FIND_TESTS
from tori_tui.permission.shell.words import Origin
from tori_tui.permission.shell.wrappers import find_names
from tori_tui.permission.source_names import names_sources

SOURCE_TYPES: Final = words("py js ts rust go c cpp java kotlin ruby php sh md html css sql lua swift")
"""Of ripgrep's types, those to which no file with secrets belongs."""

_LINES_ONLY: Final = re.compile(r"-(?:n|[nru]*[nru]|n?\d+|\d+)|\+?\d+")
"""Words that choose or order whole lines; a part of a line is another name."""

_FILTERS: Final = words("sort head tail uniq")
"""They pass lines on as they are."""


def names_given(argv: Sequence[str]) -> Origin:
    """Say what kind of names a command prints; empty where it prints other things."""
    match list(argv):
        case ["find", *rest] if all(word in FIND_TESTS or not word.startswith("-") for word in rest):
            return "" if {"-printf", "-ls"} & set(rest) else find_names(rest)
        case ["git", "ls-files", *rest] if not any(word.startswith("-") and word != "-z" for word in rest):
            patterns = [word for word in rest if not word.startswith("-")]
            return "sources" if patterns and all(map(names_sources, patterns)) else "tree"
        case ["rg", *rest] if {"-l", "--files", "--files-with-matches"} & set(rest):
            return "sources" if _rg_names_sources(rest) else "tree"
        case ["grep", *rest] if {"-l", "-rl", "-lr", "-rln", "--files-with-matches"} & set(rest):
            includes = [word.partition("=")[2] for word in rest if word.startswith("--include=")]
            return "sources" if includes and all(map(names_sources, includes)) else "tree"
        case _:
            return ""


def after_filter(argv: Sequence[str], names: Origin) -> Origin:
    """Say what is left of names after a command in a pipe."""
    match list(argv):
        case [program, *rest] if program in _FILTERS and all(map(_LINES_ONLY.fullmatch, rest)):
            return names
        case ["grep", *rest] if not any(
            word.startswith("-") and word not in ("-v", "-i", "-E") for word in rest
        ):
            return names if len([word for word in rest if not word.startswith("-")]) == 1 else ""
        case _:
            return ""


def _rg_names_sources(rest: Sequence[str]) -> bool:
    types = [rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("-t", "--type")]
    types += [word[2:] for word in rest if word.startswith("-t") and len(word) > 2]
    if types and set(types) <= SOURCE_TYPES:
        return True
    patterns = [rest[at + 1] for at, word in enumerate(rest[:-1]) if word in ("-g", "--glob")]
    return bool(patterns) and all(map(names_sources, patterns))


__all__ = ["after_filter", "names_given"]
