"""Turns the text of a command into a tree that is sure to mean what bash makes of it.

Must not judge commands. tree-sitter and bash may differ, so nothing is taken on trust: every byte must
belong to a leaf of a known form, and between leaves there may be only blanks.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Final

from tori_tui.permission.protected_paths import words

SIZE_LIMIT_BYTES: Final = 8_192
"""Parsed and looked through in about 30 ms at the worst; a longer command writes a file or hides one."""

NODES_LIMIT: Final = 2_000
"""Looked through in about 10 ms."""

DEPTH_LIMIT: Final = 80
"""Levels of the tree; no command that a person reads nests so deep."""

Node = Any
"""A node of tree-sitter, which is loaded late and has no types here."""

STRUCTURE: Final = words(
    "program command command_name concatenation string simple_expansion expansion command_substitution "
    "process_substitution redirected_statement file_redirect heredoc_redirect heredoc_body "
    "herestring_redirect pipeline list subshell compound_statement negated_command if_statement elif_clause "
    "else_clause for_statement while_statement do_group case_statement case_item function_definition "
    "variable_assignment variable_assignments test_command unary_expression binary_expression "
    "parenthesized_expression arithmetic_expansion brace_expression array"
)

_PLAIN: Final = r"[A-Za-z0-9_@%+:,./^?*\[\]=~!#{}\x80-\U0010ffff-]"
_EXPANDS: Final = r"\$(?![A-Za-z0-9_({\[@*#?!$-])"

LEAVES: Final = {
    kind: re.compile(form, re.DOTALL)
    for kind, form in {
        "word": rf"(?:{_PLAIN}|\\[^\n])+",
        "number": r"-?[0-9]+",
        "string_content": rf"(?:[^\"`$\\]|\\.|{_EXPANDS})*",
        "raw_string": r"'[^']*'",
        "ansi_c_string": r"\$'(?:[^'\\]|\\.)*'",
        "variable_name": r"[A-Za-z0-9_]+",
        "special_variable_name": r"[@*#?$!0_-]",
        "heredoc_start": r"[A-Za-z_][A-Za-z0-9_]*|'[A-Za-z_][A-Za-z0-9_]*'|\"[A-Za-z_][A-Za-z0-9_]*\"",
        "heredoc_end": r"\t*[A-Za-z_][A-Za-z0-9_]*",
        "heredoc_content": r".*",
        "heredoc_body": r".*",
        "file_descriptor": r"[0-9]",
        "extglob_pattern": r"[A-Za-z0-9_.*?\[\]!:/@%+=^-]+",
        "regex": r"[A-Za-z0-9_.*?\[\]!:/@%+=^, -]+",
        "test_operator": r"-[a-z]{1,2}",
        "comment": r"#[^\n]*",
    }.items()
}

ANONYMOUS: Final = words(
    '" $ ${ } $( ` ) <( >( $(( )) { ( ; & && || | |& ! if then elif else fi for in while until do done case '
    "esac ;; ;& ;;& function [ ] [[ ]] = += == != =~ < > >> &> &>> >| >& <& <&- >&- << <<- <<< - + * / % ** "
    ":- :+ :? - + ? %% # ## // ^ ^^ , ,, : .."
) | {"\n"}
"""Operators and keywords, told by their own text; what is done with each is decided later."""

_BODY: Final = re.compile(rf"(?:[^`$\\]|\\.|{_EXPANDS})*", re.DOTALL)
_GAP: Final = re.compile(r"(?:[ \t\n]|(?<=[ \t\n])\\\n)*")


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree of a command."""

    root: Node
    source: bytes
    objection: str = ""
    """Why the tree may not be believed; empty where it may."""

    def text(self, node: Node) -> str:
        """Return the text of a node."""
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def parse(command: str) -> Parsed | None:
    """Parse a command; None where it is too long or too deep to be looked through."""
    source = command.encode("utf-8", "replace")
    if len(source) > SIZE_LIMIT_BYTES:
        return None
    root = _parser().parse(source).root_node
    for n_nodes, (_, depth) in enumerate(walk(root), 1):
        if n_nodes > NODES_LIMIT or depth > DEPTH_LIMIT:
            return None
    parsed = Parsed(root, source)
    objection = _odd_character(command)
    if not objection and root.has_error:
        objection = "it cannot be parsed"
    return Parsed(root, source, objection or _disagreement(parsed))


@cache
def _parser() -> Node:
    tree_sitter = import_module("tree_sitter")
    pointer = import_module("tree_sitter_bash").language()
    return tree_sitter.Parser(tree_sitter.Language(pointer))


def _odd_character(command: str) -> str:
    if command.isascii() and command.isprintable():
        return ""
    for character in command:
        kind = unicodedata.category(character)
        if kind[0] in "CZ" and character not in " \t\n":
            return "it holds characters that cannot be seen"
    return ""


def _disagreement(parsed: Parsed) -> str:
    """Say where bash might read the text in another way; empty where it cannot."""
    position = 0
    for node, _ in walk(parsed.root):
        if node.is_missing:
            return "it cannot be parsed"
        if node.child_count and node.type not in STRUCTURE:
            return f"it uses {node.type.replace('_', ' ')}"
        if node.child_count and node.type != "heredoc_body":
            continue
        if why := _odd_leaf(parsed, node, position):
            return why
        position = max(position, node.end_byte)
    if _GAP.fullmatch(_between(parsed, position, len(parsed.source))) is None:
        return "it cannot be parsed"
    return _odd_heredoc(parsed)


def walk(root: Node) -> Iterator[tuple[Node, int]]:
    """Yield every node below one with its depth, in the order of the text."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        stack.extend((child, depth + 1) for child in reversed(node.children))


def _between(parsed: Parsed, start: int, end: int) -> str:
    return parsed.source[start:end].decode("utf-8", "replace")


def _odd_leaf(parsed: Parsed, node: Node, position: int) -> str:
    text = parsed.text(node)
    if _GAP.fullmatch(_between(parsed, position, node.start_byte)) is None:
        return "it cannot be parsed"
    if node.type == "comment" and _between(parsed, node.start_byte - 1, node.start_byte) not in (
        "",
        *" \t\n",
    ):
        return "it cannot be parsed"
    if node.type == "word" and text.startswith("#"):
        return "it cannot be parsed"
    if not node.is_named:
        # In double quotes a token may begin with the blanks before it.
        is_known = text in ANONYMOUS or text.lstrip(" \t\n") in ANONYMOUS
        if not is_known or (text.startswith(";;") and node.parent.type != "case_item"):
            return f"it uses {text[:10]!r}"
        return ""
    form = LEAVES.get(node.type)
    if form is None:
        return "" if node.type in STRUCTURE and not text else f"it uses {node.type.replace('_', ' ')}"
    return "" if form.fullmatch(text) else "it cannot be parsed"


def _odd_heredoc(parsed: Parsed) -> str:
    """Look by the lines themselves whether each here-document ends where the tree says."""
    redirects = [node for node, _ in walk(parsed.root) if node.type == "heredoc_redirect"]
    if not redirects:
        return ""
    lines = parsed.source.decode("utf-8", "replace").split("\n")
    begins = [node.start_point[0] for node in redirects]
    if len(set(begins)) < len(begins):
        return "it has here-documents that cannot be told apart"
    return next((why for node in redirects if (why := _odd_redirect(parsed, node, lines))), "")


def _odd_redirect(parsed: Parsed, redirect: Node, lines: list[str]) -> str:
    parts = {child.type: child for child in redirect.children}
    start, end, body = parts.get("heredoc_start"), parts.get("heredoc_end"), parts.get("heredoc_body")
    if start is None or end is None or body is None:
        return "it has a here-document without an end"
    word = parsed.text(start)
    is_quoted, has_tabs = word[0] in "'\"", "<<-" in parts
    if not is_quoted and _BODY.fullmatch(_free_text(parsed, body)) is None:
        return "it has a here-document that cannot be read"
    first = redirect.start_point[0]
    if lines[first].endswith("\\") or start.end_point[0] != first:
        return "it has a here-document that begins oddly"
    for number in range(first + 1, len(lines)):
        line = lines[number].lstrip("\t") if has_tabs else lines[number]
        if line == word.strip("'\""):
            return "" if number == end.start_point[0] else "it has here-documents that cannot be told apart"
        if not is_quoted and line.endswith("\\"):
            return "it has a here-document with joined lines"
    return "it has a here-document without an end"


def _free_text(parsed: Parsed, node: Node) -> str:
    """Return what of a here-document is no expansion."""
    pieces, position = [], node.start_byte
    for child in node.children:
        if child.type == "heredoc_content" or not child.is_named:
            continue
        pieces.append(_between(parsed, position, child.start_byte))
        position = child.end_byte
    return " ".join([*pieces, _between(parsed, position, node.end_byte)])


__all__ = ["Node", "Parsed", "parse", "walk"]
