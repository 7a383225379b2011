"""Adds permission rules to the user's configuration, every other byte of which stays.

Must not write a file that would read differently in anything but the new rules.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

_TABLE: Final = re.compile(r"^[ \t]*\[permissions\][^\n]*$", re.MULTILINE)
_NEXT_TABLE: Final = re.compile(r"^[ \t]*\[", re.MULTILINE)
_ALLOW: Final = re.compile(r"^[ \t]*allow[ \t]*=[ \t]*\[", re.MULTILINE)


def save_rules(path: Path, rules: Sequence[str]) -> str:
    """Add rules to `permissions.allow`.

    Returns:
        Empty where they are saved; else what the user should be told. The file is whole then, as it was.
    """
    try:
        text = path.read_text("utf-8-sig") if path.exists() else ""
        before = tomllib.loads(text)
        fresh = [rule for rule in rules if rule not in _allowed(before)]
        if not fresh:
            return ""
        changed = _with_rules(text, fresh)
        if not _differs_only_by(before, tomllib.loads(changed), fresh):
            return _by_hand(path, fresh, "its [permissions] are written in a way that is not understood")
        _replace(path, changed)
    except (OSError, ValueError) as error:
        return _by_hand(path, rules, str(error))
    return ""


def _with_rules(text: str, rules: Sequence[str]) -> str:
    lines = "".join(f"    {_quoted(rule)},\n" for rule in rules)
    table = _TABLE.search(text)
    if table is None:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        return f"{text}{gap}[permissions]\nallow = [\n{lines}]\n"
    end = _NEXT_TABLE.search(text, table.end())
    allow = _ALLOW.search(text, table.end(), end.start() if end else len(text))
    if allow is None:
        return f"{text[: table.end()]}\nallow = [\n{lines}]{text[table.end() :]}"
    return f"{text[: allow.end()]}\n{lines}{text[allow.end() :]}"


def _quoted(rule: str) -> str:
    """Write a text as a TOML string."""
    escaped = rule.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda match: f"\\u{ord(match[0]):04x}", escaped) + '"'


def _allowed(table: dict[str, object]) -> list[object]:
    permissions = table.get("permissions", {})
    allow = permissions.get("allow", []) if isinstance(permissions, dict) else []
    return allow if isinstance(allow, list) else []


def _differs_only_by(before: dict[str, object], after: dict[str, object], rules: Sequence[str]) -> bool:
    permissions = before.get("permissions", {})
    if not isinstance(permissions, dict):
        return False
    expected = {**before, "permissions": {**permissions, "allow": [*rules, *_allowed(before)]}}
    return after == expected


def _replace(path: Path, text: str) -> None:
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    try:
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        partial.replace(target)
    except OSError:
        partial.unlink(missing_ok=True)
        raise


def _by_hand(path: Path, rules: Sequence[str], reason: str) -> str:
    return f"The rule holds for this session but could not be saved to {path} ({reason}): {', '.join(rules)}"


__all__ = ["save_rules"]
