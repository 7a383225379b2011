"""Globs as regular expressions: for what the model asks, and for what `.gitignore` says.

Must not look at any file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tori_tui.domain.errors import ToriError

EXPANDED_LIMIT: Final = 200
"""How many globs the braces of one may stand for."""

_SAFE_NAME: Final = re.compile(r"[\w.*?-]+", re.ASCII)

_BRACES: Final = re.compile(r"\{([^{}]*)\}")


class GlobInvalid(ToriError):
    """A glob that names nothing that could be looked for."""


@dataclass(frozen=True)
class FileGlob:
    """A glob for files: `*.py` at any depth, `src/**/*.{ts,tsx}` from where the search begins."""

    pattern: str

    def matches(self, path: str) -> bool:
        """Say whether a path, relative to where the search begins and with `/`, is meant."""
        return self._regex.fullmatch(path) is not None

    @cached_property
    def name_globs(self) -> tuple[str, ...]:
        """Globs, at least one of which every meant file's name matches; empty if there are none so simple."""
        names = [glob.rpartition("/")[2] for glob in self._globs]
        return tuple(names) if all(map(_SAFE_NAME.fullmatch, names)) and "**" not in names else ()

    @cached_property
    def _globs(self) -> tuple[str, ...]:
        pattern = self.pattern.strip()
        while pattern.startswith("./"):
            pattern = pattern[2:]
        if pattern.endswith("/"):
            pattern += "**"
        return _expanded(pattern)

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        parts = []
        for glob in self._globs:
            body = regex_of(glob.lstrip("/"))
            if body is None or ".." in glob.split("/"):
                raise GlobInvalid(
                    f"{self.pattern!r} is not a glob of paths below the folder that is searched.",
                    "Write one like `*.py` or `src/**/*.py`; name the folder by `path`.",
                )
            parts.append(body if "/" in glob else f"(?:.*/)?{body}")
        return re.compile("|".join(parts), re.DOTALL)


def glob_of(pattern: str) -> FileGlob:
    """Return the glob, checked.

    Raises:
        GlobInvalid: It is empty, broken or leads upwards.
    """
    if not pattern.strip():
        raise GlobInvalid("The glob is empty.", "Write one like `*.py` or `src/**/*.py`.")
    glob = FileGlob(pattern)
    glob.matches("")
    return glob


def regex_of(glob: str) -> str | None:
    """Return the regular expression of a glob in the language of `.gitignore`; None if it is broken."""
    out, at = [], 0
    while at < len(glob):
        character = glob[at]
        begins_segment = at == 0 or glob[at - 1] == "/"
        if character == "*" and begins_segment and glob.startswith("**/", at):
            out.append("(?:.*/)?")
            at += 3
        elif character == "*" and begins_segment and glob[at:] == "**":
            out.append(".+" if at else ".*")
            at += 2
        elif character == "*":
            out.append("[^/]*")
            at += 1
        elif character == "?":
            out.append("[^/]")
            at += 1
        elif character == "[":
            end = _class_end(glob, at)
            if end is None:
                return None
            out.append(_class_regex(glob[at + 1 : end]))
            at = end + 1
        else:
            at += character == "\\"
            if at >= len(glob):
                return None
            out.append(re.escape(glob[at]))
            at += 1
    return "".join(out)


def _class_end(glob: str, start: int) -> int | None:
    at = start + 1
    at += glob[at : at + 1] in ("!", "^")
    at += glob[at : at + 1] == "]"
    end = glob.find("]", at)
    return end if end >= 0 else None


def _class_regex(body: str) -> str:
    negation = "^/" if body[:1] in ("!", "^") else ""
    members = body[1:] if negation else body
    escaped = members.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace("^", "\\^")
    escaped = re.sub(r"([&~|])", r"\\\1", escaped)
    try:
        re.compile(f"[{negation}{escaped}]")
    except re.error:  # a range that runs backwards matches nothing
        return "(?!)"
    return f"[{negation}{escaped}]"


def _expanded(pattern: str) -> tuple[str, ...]:
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        if len(done) + len(waiting) > EXPANDED_LIMIT:
            raise GlobInvalid(f"{pattern[:80]!r} stands for too many globs.", "Use fewer braces.")
        glob = waiting.pop(0)
        braces = _BRACES.search(glob)
        if braces is None:
            done.append(glob)
            continue
        waiting += [glob[: braces.start()] + part + glob[braces.end() :] for part in braces[1].split(",")]
    return tuple(done)


__all__ = ["FileGlob", "GlobInvalid", "glob_of", "regex_of"]
