"""Whether a call may run: by mode, by the user's rules, and by what it touches.

Must not ask anybody, read the disk or remember anything: the same question has the same answer.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, assert_never

from tori_tui.domain.events import Mode
from tori_tui.permission.command_class import CommandClass, classify_command
from tori_tui.permission.command_paths import protected_mention
from tori_tui.permission.protected_paths import why_protected
from tori_tui.permission.rules import (
    Rule,
    allow_together,
    literal_text,
    matches_command,
    matches_path,
    matches_tool,
)


@dataclass(frozen=True, slots=True)
class PermissionQuestion:
    """What a call is about to do."""

    tool: str
    effect: Literal["none", "read", "write", "execute", "remember"]
    root: str
    """The work tree, absolute, links resolved."""
    cwd: str = ""
    """Where a command runs; the root if empty."""
    command: str | None = None
    paths: tuple[str, ...] = ()
    """Relative to the work tree or absolute, every link resolved."""
    is_approved_check: bool = False
    """A check command that the user gave, or has approved before."""
    not_free: str = ""
    """Why what only reads by its words, the command or a part of it, may do more on this disk."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to a question."""

    decision: Literal["allow", "ask", "deny"]
    reason: str = ""
    """For the one who is asked, or for the model that is refused; empty where it is allowed."""


ALLOWED = Verdict("allow")

PROGRAM_FOLDERS: Final = re.compile(r"/(?:\.?venv|env)/(?:bin|Scripts)/|/node_modules/\.bin/", re.IGNORECASE)
"""Often on the search path: a file there becomes the program of a command that is taken for a reading one."""

NO_COMMAND = CommandClass("it is no command")


def decide(mode: Mode, question: PermissionQuestion, rules: Sequence[Rule] = ()) -> Verdict:
    """Say whether a call may run.

    In this order: a rule that denies; mode `plan`, which only reads; protected paths and dangerous commands,
    asked in every mode unless a rule allows exactly that path or command; a rule that asks; rules that allow;
    the mode.

    Args:
        mode: The mode in force.
        question: What is about to happen.
        rules: Those in force (`rules_in_force`).
    """
    if question.effect == "none":
        denied = _first(rules, "deny", question, NO_COMMAND)
        return Verdict("deny", _by_rule(denied)) if denied else ALLOWED
    seen = _seen(question)
    if (rule := _first(rules, "deny", question, seen)) is not None:
        return Verdict("deny", _by_rule(rule))
    if mode == "plan" and not _only_reads(question, seen):
        return Verdict("deny", "mode plan only reads: propose the change instead, or ask for another mode")
    if (why := _why_protected(question, seen, rules)) and not question.is_approved_check:
        return Verdict("ask", f"dangerous: {seen.danger}; {why}" if seen.danger else why)
    if (
        seen.danger
        and not question.is_approved_check
        and not _is_allowed_word_for_word(question, seen, rules)
    ):
        return Verdict("ask", f"dangerous: {seen.danger}")
    if (rule := _first(rules, "ask", question, seen)) is not None:
        return Verdict("ask", _by_rule(rule))
    if _first(rules, "allow", question, seen) is not None or _is_allowed_together(question, seen, rules):
        return ALLOWED
    return _by_mode(mode, question, seen)


def _seen(question: PermissionQuestion) -> CommandClass:
    if question.command is None:
        return NO_COMMAND
    seen = classify_command(question.command)
    if not question.not_free:
        return seen
    commands = tuple(replace(one, reason=one.reason or question.not_free) for one in seen.commands)
    return replace(seen, reason=seen.reason or question.not_free, commands=commands)


def _by_mode(mode: Mode, question: PermissionQuestion, seen: CommandClass) -> Verdict:
    if _only_reads(question, seen):
        return ALLOWED
    match mode:
        case "auto":
            return ALLOWED
        case "edit":
            if question.effect in ("write", "remember") or question.is_approved_check:
                return ALLOWED
            return Verdict("ask", f"mode edit asks before commands: {seen.reason}")
        case "ask":
            what = {"execute": f"commands: {seen.reason}", "remember": "later sessions are told something"}
            return Verdict("ask", f"mode ask asks before {what.get(question.effect, 'edits')}")
        case "plan":
            return Verdict("deny", "mode plan only reads")
        case _:
            assert_never(mode)


def _only_reads(question: PermissionQuestion, seen: CommandClass) -> bool:
    return question.effect in ("none", "read") or (question.effect == "execute" and seen.is_reading)


def _why_protected(question: PermissionQuestion, seen: CommandClass, rules: Sequence[Rule]) -> str:
    reads_only = _only_reads(question, seen)
    for path in question.paths:
        why = why_protected(path, question.root, reads_only=reads_only)
        if not why and question.effect == "write" and PROGRAM_FOLDERS.search(f"/{path}"):
            why = "programs that run by their name lie there"
        if why and not _is_allowed_by_name(path, question.tool, rules):
            return f"{path}: {why}"
    if question.command is None or _is_allowed_word_for_word(question, seen, rules):
        return ""
    for path in seen.paths if seen.is_reading else ():
        if why := why_protected(path, question.root, question.cwd, reads_only=True):
            return f"{path}: {why}"
    return protected_mention(question.command, question.root, question.cwd) if not seen.is_reading else ""


def _is_allowed_by_name(path: str, tool: str, rules: Sequence[Rule]) -> bool:
    return any(
        rule.effect == "allow" and literal_text(rule.pattern) == path and matches_tool(rule, tool)
        for rule in rules
    )


def _is_allowed_together(question: PermissionQuestion, seen: CommandClass, rules: Sequence[Rule]) -> bool:
    allowing = [rule for rule in rules if rule.effect == "allow" and matches_tool(rule, question.tool)]
    return question.command is not None and allow_together(allowing, seen)


def _is_allowed_word_for_word(
    question: PermissionQuestion, seen: CommandClass, rules: Sequence[Rule]
) -> bool:
    return any(
        rule.effect == "allow"
        and matches_tool(rule, question.tool)
        and rule.pattern != ""
        and literal_text(rule.pattern) in (question.command, " ".join(seen.words))
        for rule in rules
    )


def _first(
    rules: Sequence[Rule], effect: str, question: PermissionQuestion, seen: CommandClass
) -> Rule | None:
    return next((rule for rule in rules if rule.effect == effect and _matches(rule, question, seen)), None)


def _matches(rule: Rule, question: PermissionQuestion, seen: CommandClass) -> bool:
    if not matches_tool(rule, question.tool):
        return False
    if not rule.pattern:
        return True
    if question.command is not None:
        return matches_command(rule, seen, question.command)
    hits = [matches_path(rule, path) for path in question.paths]
    return bool(hits) and (all(hits) if rule.effect == "allow" else any(hits))


def _by_rule(rule: Rule) -> str:
    return (
        f"the rule {rule.effect} {rule.tool}({rule.pattern})"
        if rule.pattern
        else f"the rule {rule.effect} {rule.tool}"
    )


__all__ = ["PermissionQuestion", "Verdict", "decide"]
