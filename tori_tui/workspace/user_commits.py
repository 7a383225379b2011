"""Commits one goal's change into the user's own repository, and nothing of his own beside it.

The one place that writes to the user's repository, at his request only. Must not touch a file of the
work tree, nor what he has staged of other content.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import ToriError
from tori_tui.workspace.shadow_git import BlobReader
from tori_tui.workspace.tree_changes import Change, Entry

_NO_ENTRY: Final = "0" * 40
_LINK: Final = "120000"


class CommitFailed(ToriError):
    """A commit could not be made; the repository is as it was before it."""


@dataclass(frozen=True, slots=True)
class _Staged:
    """What the index says of a path."""

    mode: str
    name: str


class UserCommits:
    """Makes commits in the repository of a work tree."""

    def __init__(self, root: Path, git: str, environ: Mapping[str, str], blobs: BlobReader) -> None:
        self._root = root
        self._git = git
        self._environ = {k: v for k, v in environ.items() if not k.startswith("GIT_INDEX")}
        self._blobs = blobs

    def commit(self, layers: Sequence[Mapping[str, Change]], message: str) -> str | None:
        """Commit these changes on top of HEAD; hooks and signing as the user has them.

        Returns:
            The commit's short name, or None where HEAD holds all of it already.

        Raises:
            CommitFailed: A file differs from what the agent changed, or git refused.
        """
        head = self._entries_of_head()
        with tempfile.TemporaryDirectory(prefix="tori-commit-") as folder:
            index = Path(folder) / "index"
            if head:
                self._run("read-tree", "HEAD", index=index)
            changed = self._stage(layers, head, index, Path(folder))
            if not changed:
                return None
            self._run("commit", "--quiet", "--file=-", index=index, feed=message.encode())
        self._bring_index_along(head, changed)
        return self._run("rev-parse", "--short", "HEAD").decode().strip()

    def bodies_with(self, line: str) -> str:
        """Return the messages of all commits before HEAD in which a line stands."""
        done = self._start("log", "--format=%B", "--fixed-strings", f"--grep={line}")
        return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else ""

    def _stage(
        self,
        layers: Sequence[Mapping[str, Change]],
        head: Mapping[str, _Staged],
        index: Path,
        folder: Path,
    ) -> dict[str, _Staged | None]:
        changed: dict[str, _Staged | None] = {}
        for layer in layers:
            for path, change in layer.items():
                known = changed[path] if path in changed else head.get(path)
                if known is None and self._is_ignored(path):
                    continue
                new = self._merged(path, change, known, folder)
                if new != known:
                    changed[path] = new
        lines = (
            f"{new.mode if new else 0} {new.name if new else _NO_ENTRY}\t".encode() + os.fsencode(path)
            for path, new in changed.items()
        )
        feed = b"".join(line + b"\0" for line in lines)
        self._run("update-index", "-z", "--add", "--index-info", index=index, feed=feed)
        return changed

    def _merged(self, path: str, change: Change, known: _Staged | None, folder: Path) -> _Staged | None:
        """Return what HEAD is to hold of a path: the agent's change applied to what it holds now."""
        before, after = self._cleaned(path, change.before), self._cleaned(path, change.after)
        if known in (before, after):
            return after
        if known is None or before is None or after is None or _LINK in (known.mode, after.mode):
            raise CommitFailed(
                f"{path} in HEAD is not what the agent changed.",
                "Commit or take away your own change of it first.",
            )
        names = ("head", "before", "after")
        for name, staged in zip(names, (known, before, after), strict=True):
            (folder / name).write_bytes(self._run("cat-file", "blob", staged.name))
        done = self._start("merge-file", "-p", *(str(folder / name) for name in names))
        if done.returncode:
            raise CommitFailed(
                f"{path}: the agent's change does not fit what HEAD holds.",
                "Commit your own change of it first.",
            )
        written = self._run("hash-object", "-w", "--stdin", feed=done.stdout)
        return _Staged(after.mode, written.decode().strip())

    def _cleaned(self, path: str, entry: Entry | None) -> _Staged | None:
        """Put content into the repository as `git add` would, its filters applied."""
        if entry is None:
            return None
        data = self._blobs.read(entry.name)
        if data is None:
            raise CommitFailed(
                f"The saved content of {path} is gone.", "Older checkpoints make room for new ones."
            )
        as_path = () if entry.mode == _LINK else ("--path", path)
        name = self._run("hash-object", "-w", *as_path, "--stdin", feed=data)
        return _Staged(entry.mode, name.decode().strip())

    def _is_ignored(self, path: str) -> bool:
        return self._start("check-ignore", "-q", "--", path).returncode == 0

    def _entries_of_head(self) -> dict[str, _Staged]:
        if self._start("rev-parse", "--verify", "-q", "HEAD").returncode:
            return {}
        return _entries(self._run("ls-tree", "-r", "-z", "HEAD"))

    def _bring_index_along(self, head: Mapping[str, _Staged], changed: Mapping[str, _Staged | None]) -> None:
        """Where the user's index held what HEAD held, let it hold what HEAD holds now."""
        listing = self._run("ls-files", "-s", "-z")
        staged = _entries(listing)
        lines = [
            f"{new.mode if new else 0} {new.name if new else _NO_ENTRY}\t".encode() + os.fsencode(path)
            for path, new in changed.items()
            if staged.get(path) == head.get(path)
        ]
        if lines:
            feed = b"".join(line + b"\0" for line in lines)
            self._run("update-index", "-z", "--add", "--index-info", feed=feed)
            self._start("update-index", "-q", "--refresh")

    def _run(self, *arguments: str, index: Path | None = None, feed: bytes = b"") -> bytes:
        done = self._start(*arguments, index=index, feed=feed)
        if done.returncode:
            said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
            raise CommitFailed(f"git {arguments[0]} refused: {said or done.returncode}")
        return done.stdout

    def _start(
        self, *arguments: str, index: Path | None = None, feed: bytes = b""
    ) -> subprocess.CompletedProcess[bytes]:
        environ = dict(self._environ)
        if index is not None:
            environ["GIT_INDEX_FILE"] = str(index)
        return subprocess.run(
            [self._git, *arguments], cwd=self._root, env=environ, input=feed, capture_output=True, check=False
        )


def _entries(listing: bytes) -> dict[str, _Staged]:
    """Read `ls-tree -r -z` and `ls-files -s -z`; both begin with the mode and end with the path."""
    found: dict[str, _Staged] = {}
    for line in listing.split(b"\0"):
        facts, _, path = line.partition(b"\t")
        if path:
            words = facts.decode().split()
            name = next(word for word in words if len(word) >= len(_NO_ENTRY))
            found[os.fsdecode(path)] = _Staged(words[0], name)
    return found


__all__ = ["CommitFailed", "UserCommits"]
