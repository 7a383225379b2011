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

Effect = Literal["allow", "ask", "deny"]
Scope = Literal["once", "goal", "session", "always"]

_RULE: Final = re.compile(r"\s*(?P<tool>[a-z_*]+)\s*(?:\((?P<pattern>.*)\))?\s*", re.DOTALL)
_LOOSE_WORDS: Final = re.compile(r"[\s'\"`;|&<>(){}\\$]+")


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Deny goes over ask, ask over allow."""

    effect: Effect
    tool: str
    """A tool's name; `*` stands for any characters."""
    pattern: str = ""
    """For commands: words, `*` within one for any characters, a `*` at the end for any further words.
    For paths: relative to the work tree, `*` within a folder, `**` across. Empty: every call."""
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


def matches_command(rule: Rule, words: Sequence[str], command: str) -> bool:
    """Say whether a rule speaks of a command.

    Args:
        rule: An allowing one needs a simple command that has exactly its words; the others match
            wherever their words stand in a row, however the command is put together.
        words: Of a simple command; empty where it is not one.
        command: The whole text.
    """
    wanted = rule.pattern.split()
    if not wanted:
        return True
    if rule.effect == "allow":
        return bool(words) and _is_row(wanted, words, must_be_whole=True)
    loose = [word.rpartition("/")[2] or word for word in _LOOSE_WORDS.split(command) if word]
    exact = [word for word in _LOOSE_WORDS.split(command) if word]
    return any(
        _is_row(wanted, row[start:], must_be_whole=False)
        for row in (exact, loose)
        for start in range(len(row))
    )


def matches_path(rule: Rule, path: str) -> bool:
    """Say whether a rule speaks of a path, given relative to the work tree."""
    return not rule.pattern or re.fullmatch(_path_expression(rule.pattern), path) is not None


def matches_tool(rule: Rule, tool: str) -> bool:
    """Say whether a rule speaks of a tool."""
    return fnmatchcase(tool, rule.tool)


def _is_row(wanted: Sequence[str], words: Sequence[str], *, must_be_whole: bool) -> bool:
    is_open = wanted[-1] == "*"
    wanted = wanted[:-1] if is_open else wanted
    if len(words) < len(wanted) or (must_be_whole and not is_open and len(words) != len(wanted)):
        return False
    return all(fnmatchcase(word, pattern) for word, pattern in zip(words, wanted, strict=False))


def _path_expression(pattern: str) -> str:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return "".join(known.get(piece) or re.escape(piece) for piece in pieces)


__all__ = ["Rule", "matches_command", "matches_path", "matches_tool", "parse_rule", "rules_in_force"]
