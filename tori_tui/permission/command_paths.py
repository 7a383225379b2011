"""Protected paths that a shell command mentions, found by looking at its text.

Must not be taken for an analysis: who hides a path from it can; it keeps accidents from happening.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final

from tori_tui.permission.protected_paths import why_protected, words

_PIECES: Final = re.compile(r"[\s'\"`;|&<>(),={}\[\]\\]+")
_SEGMENTS: Final = re.compile(r"[\n;|&(]+|\$\(|`")

_HEREDOC: Final = re.compile(
    r"<<-?[ \t]*(?P<quote>['\"]?)(?P<end>\w+)(?P=quote)[^\n]*\n(?P<body>.*?)(?:^[ \t]*(?P=end)[ \t]*$|\Z)",
    re.DOTALL | re.MULTILINE,
)
_SHELL: Final = re.compile(r"(?:^|[\s;|&/])(?:ba|z|da|k|a)?sh\b|\bssh\b|\bsudo\b")

PROGRAM_FOLDERS: Final = ("/bin/", "/sbin/", "/usr/", "/opt/", "/nix/")

TOP_FOLDERS: Final = words(
    "bin boot dev etc home lib lib64 media mnt nix opt private proc root run sbin srv sys tmp usr var Users "
    "Library Applications Volumes"
)
"""A piece like `/name/…` in the middle of other text is a path only if it begins so, else it is a pattern."""

_GIT_CONFIG: Final = re.compile(r"\bgit\s+(?:-[cC]\s+\S+\s+|-\S+\s+)*config\b(?!\s+(?:--get|--list|-l\b))")
_QUOTED: Final = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\(\(.*?\)\)", re.DOTALL)
_ROOT_FOLDER: Final = re.compile(r"(?:^|\s)/\*?(?=$|[\s;|&)])")


def protected_mention(command: str, root: str, cwd: str) -> str:
    """Say which protected path a command mentions and why it is one; empty where there is none."""
    text = _HEREDOC.sub(_without_data, command).replace("${HOME}", "$HOME")
    if _GIT_CONFIG.search(text):
        return ".git/config: it controls git or tori"
    if _ROOT_FOLDER.search(_QUOTED.sub("", text)):
        return "/: it is outside the work tree"
    programs = {_first_piece(segment) for segment in _SEGMENTS.split(text)}
    here, before = cwd or root, ""
    for piece in _PIECES.split(text):
        path = _path_in(piece)
        if path and not (path in programs and path.startswith(PROGRAM_FOLDERS)):
            if why := why_protected(path, root, here):
                return f"{path[:200]}: {why}"
            if before in ("cd", "pushd"):
                here = posixpath.normpath(posixpath.join(here, path))
        before = piece
    return ""


def _without_data(match: re.Match[str]) -> str:
    """Leave out what a here-document only writes; keep what a shell would run."""
    line_start = match.string.rfind("\n", 0, match.start()) + 1
    first_line = match.string[line_start : match.start("body")]
    return match.group() if _SHELL.search(first_line) else "<<"


def _first_piece(segment: str) -> str:
    return next((piece for piece in _PIECES.split(segment) if piece), "")


def _path_in(piece: str) -> str:
    """Return the path that a piece of a command is, or that is glued to its option; else nothing."""
    for variable in ("$HOME", "$OLDPWD"):
        if piece.startswith(variable):
            return "~" + piece[len(variable) :]
    if piece.startswith("-"):
        piece = re.sub(r"^-+[A-Za-z]?", "", piece) if "/" in piece else ""
    if "://" in piece:
        return ""
    if piece.startswith("/"):
        # `s/a/b/`, `/pattern/p` and `//` are no paths.
        return piece if piece.split("/")[1] in TOP_FOLDERS else ""
    _, colon, behind = piece.partition(":")
    return behind if colon and behind and "/" not in piece[: -len(behind)] else piece


__all__ = ["protected_mention"]
