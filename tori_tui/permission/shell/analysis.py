"""From the text of a command to what it may do.

Must not believe a tree that bash might read otherwise, nor look at the disk.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import Final

from tori_tui.permission.command_class import CommandClass
from tori_tui.permission.shell.danger import DANGER_NAMES, danger
from tori_tui.permission.shell.findings import Findings
from tori_tui.permission.shell.grammar import Parsed, parse
from tori_tui.permission.shell.walk import Walk
from tori_tui.permission.shell.words import UNKNOWN

SCRIPTS_DEEP: Final = 4
"""`sh -c` within `sh -c`: nobody writes more."""

LOOSE_LIMIT: Final = 500
LOOSE_CHARS: Final = 500
"""How many places of a text that cannot be parsed are looked at, and how far around each."""

_ENDS: Final = re.compile(r"[\n;|&)`]")
_NAMES: Final = re.compile(
    rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(DANGER_NAMES, key=len, reverse=True)))})\b"
)
_WORDS: Final = re.compile(r"[\s'\"\\]+")
_STEPS_LIMIT: Final = 2_000
"""Simple commands in all, the values of variables multiplied."""


def analyse(command: str) -> CommandClass:
    """Look through a command."""
    findings = Findings(_STEPS_LIMIT)
    parsed = _look_into(command, findings, depth=0)
    if parsed is None or parsed.objection:
        findings.dangers.append(_loose_danger(command))
    return _told(findings, parsed)


def _look_into(script: str, findings: Findings, depth: int, cwds: tuple[str, ...] = ("",)) -> Parsed | None:
    """Walk one script, and those inside of it."""
    if UNKNOWN in script:
        findings.objections.append("it holds characters that cannot be seen")
        return None
    parsed = parse(script)
    if parsed is None:
        findings.objections.append("it is too long to be looked through")
        return None
    if parsed.objection:
        findings.objections.append(parsed.objection)
        findings.is_understood = False
    if not any(child.is_named and child.type != "comment" for child in parsed.root.children):
        findings.objections.append("it is empty")
    walk = Walk(parsed, findings, cwds)
    walk.visit_root()
    for inner, folders in walk.scripts:
        if depth >= SCRIPTS_DEEP:
            findings.objections.append("it hides a command in too many others")
        else:
            _look_into(inner, findings, depth + 1, folders)
    return parsed


def _loose_danger(command: str) -> str:
    """Look for dangerous commands in a text that cannot be parsed, wherever their names stand."""
    for match in islice(_NAMES.finditer(command), LOOSE_LIMIT):
        segment = _ENDS.split(command[match.start() : match.start() + LOOSE_CHARS], maxsplit=1)[0]
        line = command[max(0, match.start() - LOOSE_CHARS) : match.start()].rpartition("\n")[2]
        row = [word for word in _WORDS.split(segment) if word]
        if row and (why := danger(row, _WORDS.split(line) if line.rstrip().endswith("|") else ())):
            return why
    return ""


def _told(findings: Findings, parsed: Parsed | None) -> CommandClass:
    reasons = [*findings.objections, *(one.reason for one in findings.commands if one.reason)]
    is_plain = (
        parsed is not None and len(findings.commands) == 1 and not findings.objections and findings.is_plain
    )
    outer = findings.commands[0].forms[0] if is_plain and findings.commands[0].forms else ()
    told = CommandClass(
        reason=next((reason for reason in reasons if reason), ""),
        danger=next((why for why in findings.dangers if why), ""),
        words=outer if not any(UNKNOWN in word for word in outer) else (),
        commands=tuple(findings.commands),
        is_whole=not findings.objections,
        is_understood=findings.is_understood,
    )
    if told.danger and not told.reason:
        told = replace(told, reason=told.danger)
    if told.reason:
        return told
    return replace(
        told,
        paths=tuple(dict.fromkeys(findings.paths)),
        folders=tuple(dict.fromkeys(findings.folders)),
        opens_found=findings.opens_found,
        git_folders=tuple(dict.fromkeys(findings.git_folders)),
    )


__all__ = ["analyse"]
