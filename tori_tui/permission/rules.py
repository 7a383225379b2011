"""The user's own rules: allow, ask or deny a tool, with a pattern for its command or paths.

Must not decide alone; `policy` weighs them against mode and protected paths.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final, Literal

from tori_tui.domain.errors import UsageError
from tori_tui.domain.ids import GoalId
from tori_tui.permission.command_class import CommandClass, SimpleCommand

Effect = Literal["allow", "ask", "deny"]
Scope = Literal["once", "goal", "session", "always"]

_RULE: Final = re.compile(r"\s*(?P<tool>[a-z_*]+)\s*(?:\((?P<pattern>.*)\))?\s*", re.DOTALL)
_LOOSE_WORDS: Final = re.compile(r"[\s'\"`;|&<>(){}\\$=]+")
_SPECIAL: Final = re.compile(r"[*?\\]")
_UNESCAPE: Final = re.compile(r"\\([*?\\])")
_WILDCARD: Final = re.compile(r"(?<!\\)(?:\\\\)*[*?]")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Deny goes over ask, ask over allow."""

    effect: Effect
    tool: str
    """A tool's name; `*` stands for any characters."""
    pattern: str = ""
    """For commands: words, `*` within one for any characters, a `*` at the end for any further words.
    For paths: relative to the work tree, `*` within a folder, `**` across. `\\*` is a star itself.
    Empty: every call."""
    scope: Scope = "always"
    goal_id: GoalId | None = None
    """Of scope `goal`: the goal while which it holds."""


def parse_rule(effect: Effect, text: str) -> Rule:
    """Read a rule as the configuration writes it: `bash(git push *)`, `edit_file(src/**)`, `bash`.

    Raises:
        UsageError: It has another form.
    """
    match = _RULE.fullmatch(text)
    if match is None:
        raise UsageError(
            f"{text!r} is no permission rule.", "Write TOOL or TOOL(PATTERN), for example bash(git push *)."
        )
    return Rule(effect, match["tool"], (match["pattern"] or "").strip())


def rules_in_force(rules: Iterable[Rule], goal_id: GoalId | None) -> tuple[Rule, ...]:
    """Return the rules that hold while a goal is focused; those for once hold for no later call."""
    return tuple(
        rule
        for rule in rules
        if rule.scope in ("session", "always") or (rule.scope == "goal" and rule.goal_id == goal_id)
    )


def matches_command(rule: Rule, found: CommandClass, command: str) -> bool:
    """Say whether a rule speaks of a command.

    Args:
        rule: An allowing one must cover every simple command that does more than read, and then only where
            nothing else has an effect: no redirection rides along. The others match where any simple command
            begins with its words, wrappers opened; where the command is not understood, wherever they stand.
        found: What is known of it.
        command: The whole text.
    """
    wanted = rule.pattern.split()
    if not wanted:
        return True
    if rule.effect == "allow":
        return _allows_whole(rule, found, command)
    if any(
        _is_row(wanted, _named(form), must_be_whole=False) for one in found.commands for form in one.forms
    ):
        return True
    if found.is_understood and found.commands:
        return False
    exact = [word for word in _LOOSE_WORDS.split(command) if word]
    loose = [word.rpartition("/")[2] or word for word in exact]
    return any(
        _is_row(wanted, row[start:], must_be_whole=False)
        for row in (exact, loose)
        for start in range(len(row))
    )


def allow_together(rules: Sequence[Rule], found: CommandClass) -> bool:
    """Say whether allowing rules cover, one or another, every simple command that does more than read."""
    return (
        found.is_whole
        and bool(found.commands)
        and all(
            not one.reason or any(_allows_one(rule, one) for rule in rules if rule.pattern)
            for one in found.commands
        )
    )


def literal_text(pattern: str) -> str | None:
    """Return the one text that a pattern stands for; None where it has a wildcard."""
    return _UNESCAPE.sub(r"\1", pattern) if _WILDCARD.search(pattern) is None else None


def exact_rule(tool: str, text: str) -> Rule:
    """Return the rule that allows exactly one command or path."""
    return Rule("allow", tool, _SPECIAL.sub(r"\\\g<0>", text))


def rule_text(rule: Rule) -> str:
    """Write a rule as the configuration does."""
    return f"{rule.tool}({rule.pattern})" if rule.pattern else rule.tool


def matches_path(rule: Rule, path: str) -> bool:
    """Say whether a rule speaks of a path, given relative to the work tree."""
    return not rule.pattern or re.fullmatch(_path_expression(rule.pattern), path) is not None


def matches_tool(rule: Rule, tool: str) -> bool:
    """Say whether a rule speaks of a tool."""
    return fnmatchcase(tool, rule.tool)


def _allows_whole(rule: Rule, found: CommandClass, command: str) -> bool:
    return literal_text(rule.pattern) == command or allow_together((rule,), found)


def _allows_one(rule: Rule, one: SimpleCommand) -> bool:
    return any(_is_row(rule.pattern.split(), form, must_be_whole=True) for form in one.forms)


def _named(form: Sequence[str]) -> tuple[str, ...]:
    """Take the folder off a program's name: `/bin/rm` is `rm`."""
    return (form[0].rpartition("/")[2], *form[1:]) if form else ()


def _is_row(wanted: Sequence[str], words: Sequence[str], *, must_be_whole: bool) -> bool:
    is_open = wanted[-1] == "*"
    wanted = wanted[:-1] if is_open else wanted
    if len(words) < len(wanted) or (must_be_whole and not is_open and len(words) != len(wanted)):
        return False
    return all(
        re.fullmatch(_word_expression(pattern), word, re.DOTALL)
        for word, pattern in zip(words, wanted, strict=False)
    )


def _word_expression(pattern: str) -> str:
    pieces = re.split(r"(\\.|\*)", pattern)
    return "".join(".*" if piece == "*" else re.escape(_UNESCAPE.sub(r"\1", piece)) for piece in pieces)


def _path_expression(pattern: str) -> str:
    pieces = re.split(r"(\\.|\*\*/|\*\*|\*|\?)", pattern)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(known.get(piece) or re.escape(_UNESCAPE.sub(r"\1", piece)) for piece in pieces)


__all__ = [
    "Rule",
    "allow_together",
    "exact_rule",
    "literal_text",
    "matches_command",
    "matches_path",
    "matches_tool",
    "parse_rule",
    "rule_text",
    "rules_in_force",
]
