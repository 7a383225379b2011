"""Walks through the tree of one script and collects every simple command with what stands around it.

Must not decide what a simple command does; `judge` and `danger` do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from types import MappingProxyType
from typing import Final

from tori_tui.permission.protected_paths import HARMLESS_DEVICES, words
from tori_tui.permission.shell.danger import dangerous_target
from tori_tui.permission.shell.findings import Findings
from tori_tui.permission.shell.grammar import Node, Parsed, walk
from tori_tui.permission.shell.judge import BINARY_TESTS, UNARY_TESTS
from tori_tui.permission.shell.names import after_filter, names_given
from tori_tui.permission.shell.simple_commands import Around, SimpleCommands
from tori_tui.permission.shell.words import (
    ALTERNATIVES_LIMIT,
    UNKNOWN,
    Variables,
    Word,
    odd_expansion,
    read_word,
)
from tori_tui.permission.shell.wrappers import (
    HARMLESS_VARIABLES,
)

EXPANSIONS: Final = words("simple_expansion expansion arithmetic_expansion")
WORDS: Final = words(
    "word number string raw_string ansi_c_string concatenation simple_expansion expansion "
    "command_substitution process_substitution arithmetic_expansion brace_expression"
)
READS: Final = frozenset({"<", "<&", "<&-", ">&-"})
TEST_PARTS: Final = words("test_command unary_expression binary_expression parenthesized_expression")
TEST_MARKS: Final = words("[ ] ! = == !=")
"""What may stand in `[` beside words and operators with a dash."""

CWDS_LIMIT: Final = 4
_NOTHING: Final[Variables] = MappingProxyType({})


class Walk:
    """One walk, through one script."""

    def __init__(self, parsed: Parsed, findings: Findings, cwds: tuple[str, ...] = ("",)) -> None:
        self._parsed = parsed
        self._findings = findings
        nodes = [node for node, _ in walk(parsed.root)]
        names = _assigned_names(parsed, nodes)
        self._assigned = frozenset(names)
        self._assigned_once = frozenset(name for name, count in names.items() if count == 1)
        self._may_read_names = any(parsed.text(n) == "read" for n in nodes if n.type == "command_name")
        functions = [node for node in nodes if node.type == "function_definition"]
        names_of_functions = frozenset(_function_name(parsed, node) for node in functions)
        self._commands = SimpleCommands(findings, names_of_functions, cwds)

    @property
    def scripts(self) -> list[tuple[str, tuple[str, ...]]]:
        """Texts that a shell inside would run, and where; the caller walks through them too."""
        return self._commands.scripts

    def visit_root(self) -> None:
        """Walk through everything."""
        if len([node for node in self._parsed.root.children if node.is_named]) != 1:
            self._findings.is_plain = False
        self._visit_all(self._parsed.root, Around())

    def _object(self, reason: str) -> None:
        if reason and reason not in self._findings.objections:
            self._findings.objections.append(reason)

    def _visit_all(self, node: Node, around: Around) -> None:
        for child in node.children:
            if child.type == "&":
                self._object("it leaves something running")
            if child.is_named:
                self._visit(child, around)

    def _visit(self, node: Node, around: Around) -> None:
        match node.type:
            case "command":
                self._command(node, around, ())
            case "redirected_statement":
                self._redirected(node, around)
            case "pipeline":
                self._pipeline(node.children, around)
            case "list":
                self._list(node, around)
            case "for_statement":
                self._for(node, around)
            case "subshell" | "command_substitution" | "process_substitution":
                self._subshell(node, around)
            case "function_definition":
                self._function(node, around)
            case "variable_assignment":
                self._assignment(node, around)
            case "test_command":
                self._test(node, around)
            case "simple_expansion" | "expansion" | "arithmetic_expansion":
                self._object(odd_expansion(self._parsed, node, self._assigned))
                self._visit_all(node, around)
            case "while_statement" | "if_statement" | "do_group" | "case_item":
                self._visit_all(node, replace(around, may_change_folder=False))
            case "file_redirect" | "heredoc_redirect" | "herestring_redirect":
                self._redirect(node, around)
            case _:
                self._visit_all(node, around)

    # ── what stands around commands ──

    def _subshell(self, node: Node, around: Around) -> None:
        self._findings.is_plain = False
        before = self._commands.cwds
        inner = replace(around, names="", before=()) if node.type != "subshell" else around
        self._visit_all(node, replace(inner, may_change_folder=True))
        self._commands.cwds = before

    def _list(self, node: Node, around: Around) -> None:
        self._findings.is_plain = False
        before = self._commands.cwds
        for child in node.children:
            if child.type == "||":
                # What follows may run where the first command did not go.
                self._commands.cwds = tuple(dict.fromkeys((*before, *self._commands.cwds)))[:CWDS_LIMIT]
            elif child.type == "&":
                self._object("it leaves something running")
            elif child.is_named:
                self._visit(child, around)

    def _for(self, node: Node, around: Around) -> None:
        self._findings.is_plain = False
        variable = self._parsed.text(next(c for c in node.children if c.type == "variable_name"))
        values: list[Word] = []
        for child in node.children:
            if child.type in WORDS and child.type != "variable_name":
                self._visit(child, around)
                values.extend(read_word(self._parsed, child, around.variables))
        if any(child.type == "select" for child in node.children):
            self._object("it waits for a choice")
        known = all(UNKNOWN not in value.text and value.is_one for value in values)
        variables = dict(around.variables)
        variables.pop(variable, None)
        if variable in self._assigned_once and not self._may_read_names and known and values:
            variables[variable] = tuple(values[: ALTERNATIVES_LIMIT + 1])
        inner = replace(around, variables=MappingProxyType(variables), may_change_folder=False)
        for child in node.children:
            if child.type == "do_group":
                self._visit(child, inner)

    def _function(self, node: Node, around: Around) -> None:
        self._findings.is_plain = False
        name = _function_name(self._parsed, node)
        inner = replace(around, variables=_NOTHING, function=name, may_change_folder=False, names="")
        for child in node.children[1:]:
            if child.is_named and child.type != "word":
                self._visit(child, inner)

    def _assignment(self, node: Node, around: Around) -> None:
        """Look at a variable that is set for what follows."""
        self._findings.is_plain = False
        name = next((self._parsed.text(c) for c in node.children if c.type == "variable_name"), "")
        if not name or not (name.islower() or name in HARMLESS_VARIABLES):
            self._object(f"it sets {name or 'a part of a variable'}")
        self._visit_all(node, around)

    def _test(self, node: Node, around: Around) -> None:
        """Allow tests of files and texts; one of numbers may run what a variable holds."""
        self._findings.is_plain = False
        is_double = node.children[0].type == "[["
        for part, _ in walk(node):
            text = self._parsed.text(part)
            if (
                not is_double
                and part.parent.type in TEST_PARTS
                and not part.is_named
                and text not in TEST_MARKS
            ):
                # In `[` they are the shell's own: a redirection, the end of the command.
                self._object(f"its test holds {text!r}")
            if part.type == "test_operator" and text not in UNARY_TESTS | BINARY_TESTS:
                self._object(f"its test uses {text}")
            if is_double and part.type == "test_operator" and text in BINARY_TESTS - {"-nt", "-ot", "-ef"}:
                self._object("its test computes with variables")
            is_bare = part.type in EXPANSIONS and part.parent.type != "string" and not is_double
            if is_bare and part.parent.type != "expansion":
                self._object("its test holds a variable without quotes")
        self._visit_all(node, around)

    # ── pipes and redirections ──

    def _pipeline(self, children: Sequence[Node], around: Around) -> None:
        self._findings.is_plain = False
        names, before = around.names, around.before
        folder = self._commands.cwds
        for child in children:
            if not child.is_named:
                continue
            stage = replace(around, names=names, before=before, may_change_folder=False)
            self._visit(child, stage)
            command = _first_command(child)
            argv = (
                [word.text for word in _argvs(self._parsed, command, around)[0]]
                if command is not None
                else []
            )
            names = after_filter(argv, names) or names_given(argv)
            before = (*before, *(self._parsed.text(n) for n, _ in walk(child) if n.type == "command_name"))
            if around.function and {around.function} & set(before[-1:]) and len(before) > 1:
                self._findings.dangers.append("it starts itself without end")
        self._commands.cwds = folder

    def _redirected(self, node: Node, around: Around) -> None:
        self._findings.is_plain = False
        body = node.children[0]
        extra: list[Node] = []
        for child in node.children:
            if child.type in ("file_redirect", "heredoc_redirect", "herestring_redirect"):
                extra += self._redirect(child, around)
        if body.type == "command":
            self._command(body, around, extra)
            return
        if extra:
            self._object("it has words behind a redirection")
        if body.type not in ("file_redirect", "heredoc_redirect", "herestring_redirect"):
            self._visit(body, around)

    def _redirect(self, node: Node, around: Around) -> list[Node]:
        """Look at a redirection; return the words behind its target, which belong to the command."""
        self._findings.is_plain = False
        if node.type == "heredoc_redirect":
            return self._heredoc(node, around)
        operator = next((child.type for child in node.children if not child.is_named), "")
        targets = [child for child in node.children if child.type in WORDS]
        for target in targets:
            self._visit(target, around)
        if node.type == "herestring_redirect":
            return targets[1:]
        if not targets:
            return []
        for word in read_word(self._parsed, targets[0], around.variables):
            self._target(operator, word)
        return targets[1:]

    def _target(self, operator: str, word: Word) -> None:
        self._findings.dangers.append(dangerous_target(word.text))
        if operator in (">&", "<&") and (word.text.isdecimal() or word.text == "-"):
            return
        if operator in READS:
            if word.is_known and word.text not in HARMLESS_DEVICES:
                self._findings.paths += self._commands.from_here(word.text)
            elif not word.is_known:
                self._object("it reads a file whose name only the running shell knows")
        elif word.text not in ("/dev/null", "/dev/stdout", "/dev/stderr"):
            self._object(f"it writes to {'a file' if UNKNOWN in word.text else word.text[:80]}")

    def _heredoc(self, node: Node, around: Around) -> list[Node]:
        """Walk what stands in and behind a here-document."""
        extra: list[Node] = []
        for child in node.children:
            if child.type == "pipeline":
                self._pipeline(child.children, replace(around, before=("cat",), names=""))
            elif child.type == "file_redirect":
                extra += self._redirect(child, around)
            elif child.type in WORDS:
                extra.append(child)
            elif child.is_named and child.type != "heredoc_body":
                self._visit(child, around)
            elif child.type == "heredoc_body":
                self._visit_all(child, around)
        return extra

    # ── simple commands ──

    def _command(self, node: Node, around: Around, extra: Sequence[Node]) -> None:
        prefix = [child for child in node.children if child.type == "variable_assignment"]
        for child in prefix:
            name = self._parsed.text(child.children[0])
            if name not in HARMLESS_VARIABLES:
                self._object(f"it sets {name}")
            self._visit_all(child, around)
        extra = list(extra)
        for child in node.children:
            if child.type in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                extra += self._redirect(child, around)
            elif child.type == "command_name":
                self._visit_all(child, around)
            elif child.type in WORDS:
                self._visit(child, around)
            elif child.type != "variable_assignment":
                self._object(f"it uses {self._parsed.text(child)[:20]!r}")
        for child in extra:
            self._visit(child, around)
        for argv in _argvs(self._parsed, node, around, extra):
            self._commands.add(argv, around)


def _assigned_names(parsed: Parsed, nodes: Sequence[Node]) -> Counter[str]:
    return Counter(
        parsed.text(child)
        for node in nodes
        if node.type in ("variable_assignment", "for_statement")
        for child in node.children
        if child.type == "variable_name"
    )


def _function_name(parsed: Parsed, node: Node) -> str:
    return parsed.text(node.children[1] if node.children[0].type == "function" else node.children[0])


def _first_command(node: Node) -> Node | None:
    while node.type == "redirected_statement":
        node = node.children[0]
    return node if node.type == "command" else None


def _argvs(parsed: Parsed, node: Node, around: Around, extra: Sequence[Node] = ()) -> list[tuple[Word, ...]]:
    """Return the words of a command, once for each value of the variables in it."""
    kept = [child for child in node.children if child.type == "command_name" or child.type in WORDS]
    parts = [part.children[0] if part.type == "command_name" and part.children else part for part in kept]
    choices = [read_word(parsed, part, around.variables) for part in (*parts, *extra)]
    total = 1
    for choice in choices:
        total *= len(choice)
    if not choices or total > ALTERNATIVES_LIMIT:
        return [(Word(UNKNOWN, is_one=False), *(Word(UNKNOWN, is_one=False) for _ in choices[1:]))]
    return list(product(*choices))


__all__ = ["Walk"]
