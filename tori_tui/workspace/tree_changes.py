"""What differs between saved trees: by path, and as a diff to read.

Must not look at the work tree; only at what was saved of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tori_tui.workspace.shadow_git import ShadowGit

EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
"""The tree without files; git knows it without having it."""

_HEAD: Final = re.compile(rb"[0-9a-f]{40} [0-9a-f]{40}\n")
_NOTHING: Final = "000000"


@dataclass(frozen=True, slots=True)
class Entry:
    """What stood at a path."""

    mode: str
    """git's: `100644`, `100755`, `120000` for a link."""
    name: str
    """The object with the content."""


@dataclass(frozen=True, slots=True)
class Change:
    """One path in two trees; None where it was not there."""

    before: Entry | None
    after: Entry | None


def changes_between(shadow: ShadowGit, pairs: Sequence[tuple[str, str]]) -> list[Mapping[str, Change]]:
    """Return for each pair of trees what changed, by path.

    Raises:
        GitFailed: A tree is gone.
    """
    wanted = list(dict.fromkeys(pair for pair in pairs if pair[0] != pair[1]))
    if not wanted:
        return [{} for _ in pairs]
    feed = "".join(f"{before} {after}\n" for before, after in wanted).encode()
    listing = shadow.run("diff-tree", "--stdin", "-z", "-r", "--raw", "--no-renames", feed=feed)
    found = _parsed(listing)
    return [found.get(pair, {}) for pair in pairs]


def diff_text(shadow: ShadowGit, before: str, after: str, paths: Iterable[str] = ()) -> str:
    """Return the unified diff of two trees, of some paths or of all."""
    wanted = sorted(paths)
    limits = ("--", *wanted) if wanted else ()
    output = shadow.run(
        *("diff-tree", "-p", "-r", "--no-color", "--no-ext-diff", "--no-textconv", "--no-renames"),
        *(before, after, *limits),
    )
    return output.decode("utf-8", "replace")


def _parsed(listing: bytes) -> dict[tuple[str, str], dict[str, Change]]:
    found: dict[tuple[str, str], dict[str, Change]] = {}
    current: dict[str, Change] = {}
    at = 0
    while at < len(listing):
        if head := _HEAD.match(listing, at):
            before, after = head[0].decode().split()
            current = found.setdefault((before, after), {})
            at = head.end()
            continue
        facts_end = listing.index(b"\0", at)
        path_end = listing.index(b"\0", facts_end + 1)
        old_mode, new_mode, old, new, _ = listing[at + 1 : facts_end].decode().split(" ")
        path = os.fsdecode(listing[facts_end + 1 : path_end])
        current[path] = Change(_entry(old_mode, old), _entry(new_mode, new))
        at = path_end + 1
    return found


def _entry(mode: str, name: str) -> Entry | None:
    return None if mode == _NOTHING else Entry(mode, name)


__all__ = ["EMPTY_TREE", "Change", "Entry", "changes_between", "diff_text"]
