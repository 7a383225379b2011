"""What a word of a command comes to, as far as its text says it.

Must not guess a value: what an expansion gives is unknown unless every value of its variable is written down.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Final, Literal

from tori_tui.permission.protected_paths import words
from tori_tui.permission.shell.grammar import Node, Parsed

UNKNOWN: Final = "\ufffc"
"""Stands in a text for what only the running shell knows; no command that is believed holds it."""

PIPE_PATH: Final = "/dev/fd/63"
"""What `<(…)` becomes: the end of a pipe."""

ALTERNATIVES_LIMIT: Final = 32
"""Of one word or one command; beyond, the word is unknown."""

_GLOB: Final = re.compile(r"[*?\[]")
QUOTED: Final = words("raw_string string ansi_c_string simple_expansion expansion command_substitution")
"""Pieces of a word of which the braces are not bash's."""

_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_QUOTED_ESCAPE: Final = re.compile(r"\\([\"\\$`\n])")
_ANSI: Final = re.compile(r"\\([\\'\"?ntr])")
_ANSI_MEANING: Final = {"n": "\n", "t": "\t", "r": "\r"}

SECRET_VARIABLE: Final = re.compile(r"TOKEN|SECRET|KEY|PASS|CRED|AUTH|COOKIE|SESSION", re.IGNORECASE)

EXPANSION_OPERATORS: Final = words("${ } : :- - :+ + % %% # ## / // ^ ^^ , ,,")
"""Those that only look at a value. `!` and `@` run or follow what the value says; `:=` changes it."""


Origin = Literal["", "tree", "sources"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word, or what may become several."""

    text: str
    """Quotes taken off; `UNKNOWN` for what is not known."""
    is_one: bool = True
    """Whether it is exactly one word, whatever is expanded."""
    has_glob: bool = False
    is_quoted: bool = False
    """Some of it stood in quotes, so it is no keyword and no home folder."""
    origin: Origin = ""
    """For unknown names of files: `tree` are some in the work tree, `sources` such that hold no secrets."""

    @property
    def is_known(self) -> bool:
        """Whether its whole text is known."""
        return UNKNOWN not in self.text and not self.has_glob

    @property
    def may_be_option(self) -> bool:
        """Whether the program may take it for an option."""
        return not self.is_one or self.text.startswith(("-", UNKNOWN))


Variables = Mapping[str, tuple[Word, ...]]
"""Every value that a variable may have here, for those of which that is known."""


def read_word(parsed: Parsed, node: Node, variables: Variables) -> tuple[Word, ...]:
    """Return the words that a node may stand for, one for each value of its variables."""
    pieces = [node] if node.type != "concatenation" else list(node.children)
    choices = [_piece(parsed, piece, variables) for piece in pieces]
    if _count(choices) > ALTERNATIVES_LIMIT:
        return (Word(UNKNOWN, is_one=False),)
    found = tuple(_joined(chosen) for chosen in product(*choices))
    return tuple(map(_without_braces, found)) if _has_braces(parsed, node, pieces) else found


def _has_braces(parsed: Parsed, node: Node, pieces: list[Node]) -> bool:
    """Say whether bash makes several words of it: a brace without quotes, and a comma or two dots."""
    is_open = any(piece.type not in QUOTED and "{" in parsed.text(piece) for piece in pieces)
    text = parsed.text(node)
    return is_open and ("," in text or ".." in text)


def _count(choices: list[tuple[Word, ...]]) -> int:
    total = 1
    for choice in choices:
        total *= max(1, len(choice))
    return total


def _joined(pieces: tuple[Word, ...]) -> Word:
    return Word(
        "".join(piece.text for piece in pieces),
        is_one=all(piece.is_one for piece in pieces),
        has_glob=any(piece.has_glob for piece in pieces),
        is_quoted=any(piece.is_quoted for piece in pieces),
    )


def _without_braces(word: Word) -> Word:
    """Say that `{a,b}` becomes several words of which the beginning is known at most."""
    return Word(word.text.partition("{")[0] + UNKNOWN, is_one=False)


def _piece(parsed: Parsed, node: Node, variables: Variables) -> tuple[Word, ...]:
    text = parsed.text(node)
    match node.type:
        case "word" | "number" | "extglob_pattern" | "regex":
            return (Word(_ESCAPE.sub(r"\1", text), has_glob=_GLOB.search(_ESCAPE.sub("", text)) is not None),)
        case "raw_string":
            return (Word(text[1:-1], is_quoted=True),)
        case "ansi_c_string":
            inner = text[2:-1]
            is_plain = "\\" not in _ANSI.sub("", inner)
            decoded = _ANSI.sub(lambda match: _ANSI_MEANING.get(match[1], match[1]), inner)
            return (Word(decoded if is_plain else UNKNOWN, is_quoted=True),)
        case "string":
            return _string(parsed, node, variables)
        case "simple_expansion" | "expansion":
            return _value(parsed, node, variables)
        case "process_substitution":
            return (Word(PIPE_PATH),)
        case _:
            return (Word(UNKNOWN, is_one=False),)


def _string(parsed: Parsed, node: Node, variables: Variables) -> tuple[Word, ...]:
    """Read what stands in double quotes, where nothing is split and nothing becomes file names."""
    choices: list[tuple[Word, ...]] = []
    position = node.start_byte + 1
    for child in node.children:
        if not child.is_named or child.type == "string_content":
            continue
        child_text = parsed.text(child)
        blanks = len(child_text) - len(child_text.lstrip(" \t\n"))
        choices.append((_plain_quoted(parsed, position, child.start_byte + blanks),))
        values = _piece(parsed, child, variables)
        is_list = child_text.strip() in ("$@", "${@}")
        choices.append(tuple(replace(value, is_one=not is_list) for value in values))
        position = child.end_byte
    choices.append((_plain_quoted(parsed, position, node.end_byte - 1),))
    if _count(choices) > ALTERNATIVES_LIMIT:
        return (Word(UNKNOWN, is_quoted=True),)
    return tuple(replace(_joined(chosen), is_quoted=True) for chosen in product(*choices))


def _plain_quoted(parsed: Parsed, start: int, end: int) -> Word:
    text = parsed.source[start:end].decode("utf-8", "replace")
    return Word(_QUOTED_ESCAPE.sub(lambda match: "" if match[1] == "\n" else match[1], text))


def _value(parsed: Parsed, node: Node, variables: Variables) -> tuple[Word, ...]:
    name = variable_of(parsed, node)
    is_whole = node.type == "simple_expansion" or node.child_count == 3
    known = variables.get(name) if is_whole else None
    if known is None:
        return (Word(UNKNOWN, is_one=False),)
    return tuple(replace(value, is_one=_stays_one(value)) for value in known)


def _stays_one(value: Word) -> bool:
    """Say whether a value stays one word outside quotes; names of files may hold blanks."""
    return not value.has_glob and value.text != "" and re.search(r"\s", value.text) is None


def variable_of(parsed: Parsed, node: Node) -> str:
    """Return the name of the variable that an expansion reads."""
    kinds = ("variable_name", "special_variable_name")
    return next((parsed.text(child) for child in node.children if child.type in kinds), "")


def odd_expansion(parsed: Parsed, node: Node, assigned: frozenset[str]) -> str:
    """Say why an expansion is not only the look at a harmless value; empty where it is."""
    if node.type == "arithmetic_expansion":
        # A variable's value would be evaluated too, and an index in it may run a command.
        is_plain = re.fullmatch(r"\$\(\([\s0-9+*/%()-]*\)\)", parsed.text(node))
        return "" if is_plain else "it computes with variables"
    operators = {parsed.text(child).strip() for child in node.children if not child.is_named}
    if node.type == "expansion" and not operators <= EXPANSION_OPERATORS:
        return "it expands a variable in an unusual way"
    is_part = ":" in operators and node.type == "expansion"
    if is_part and any(
        child.type not in ("variable_name", "number") for child in node.children if child.is_named
    ):
        return "it expands a variable in an unusual way"
    name = variable_of(parsed, node)
    if name not in assigned and SECRET_VARIABLE.search(name):
        return f"${name} may be a secret"
    return ""


__all__ = [
    "ALTERNATIVES_LIMIT",
    "PIPE_PATH",
    "UNKNOWN",
    "Origin",
    "Variables",
    "Word",
    "odd_expansion",
    "read_word",
    "variable_of",
]
