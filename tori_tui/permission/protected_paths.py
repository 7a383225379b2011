"""Paths about which the user is asked in every mode: outside, secrets, git's and tori's own control files.

Must not touch the disk: links are resolved by whoever names the path.
"""

from __future__ import annotations

import posixpath
import re
from fnmatch import translate
from functools import cache
from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the words of a list that is written as text, because it is read that way."""
    return frozenset(text.split())


SECRET_NAMES: Final = words(
    ".env .env.* *.env .envrc id_rsa* id_dsa* id_ecdsa* id_ed25519* *.pem *.key *.p12 *.pfx *.jks *.keystore "
    "*.kdbx *.ppk .netrc _netrc .npmrc .pypirc .pgpass .htpasswd .git-credentials .vault-token credentials "
    "credentials.json secrets.json secrets.yaml secrets.yml service-account*.json"
)
"""Files that hold keys by custom."""

SAMPLE_NAMES: Final = words(".env.example .env.sample .env.template .env.dist *.pub")
"""Made to be shared."""

SECRET_FOLDERS: Final = frozenset({".ssh", ".aws", ".gnupg"})

CONTROL_PATHS: Final = (
    *(".git/hooks", ".git/config", ".git/config.worktree", ".git/commondir", ".git/info/attributes"),
    *(".git/modules", ".git/worktrees", ".tori", ".trace"),
)
"""What runs programs or says what is allowed."""

HARMLESS_DEVICES: Final = frozenset(
    {"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/stdin", "/dev/stdout", "/dev/stderr"}
)

_KEPT_OUTPUT: Final = re.compile(r"\.trace/[^/]+(/branches/[^/]+)*/outputs/[^/]+")


def why_protected(path: str, root: str, cwd: str = "", *, reads_only: bool = False) -> str:
    """Say why a path is asked about in every mode; empty where it is not.

    Args:
        path: As written, or resolved; relative ones count from `cwd`.
        root: The work tree, absolute.
        cwd: Absolute; the root if empty.
        reads_only: The call cannot write: tori's own kept outputs are then free.
    """
    if path in HARMLESS_DEVICES:
        return ""
    if path.startswith("~"):
        return "it is outside the work tree"
    absolute = posixpath.normpath(posixpath.join(cwd or root, path))
    if absolute != root and not absolute.startswith(root.rstrip("/") + "/"):
        return "it is outside the work tree"
    relative = posixpath.relpath(absolute, root).lower()
    if reads_only and _KEPT_OUTPUT.fullmatch(relative):
        return ""
    # A file of the name `.git` leads git to a repository elsewhere.
    is_link = not reads_only and relative.rpartition("/")[2] == ".git"
    if is_link or any(_lies_in(relative, control) for control in CONTROL_PATHS):
        return "it controls git or tori"
    return "it may hold secrets" if may_hold_secrets(relative) else ""


def may_hold_secrets(path: str) -> bool:
    """Say whether a file holds secrets by custom, as far as its path says it."""
    parts = path.lower().split("/")
    name = parts[-1]
    return bool(SECRET_FOLDERS & set(parts)) or (
        _is_one_of(name, SECRET_NAMES) and not _is_one_of(name, SAMPLE_NAMES)
    )


def _is_one_of(name: str, patterns: frozenset[str]) -> bool:
    # One expression for all: a search looks at every name below a folder.
    return _any_of(patterns).fullmatch(name) is not None


@cache
def _any_of(patterns: frozenset[str]) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in sorted(patterns)))


def _lies_in(relative: str, control: str) -> bool:
    # Nested repositories have a .git of their own.
    return f"/{control}/" in f"/{relative}/"


__all__ = ["HARMLESS_DEVICES", "may_hold_secrets", "why_protected", "words"]
