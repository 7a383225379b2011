"""A git directory of tori's own beside a work tree, driven by plumbing commands alone.

Must not read or write anything of the user's repository, and must not know what a checkpoint is for.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from tori_tui.domain.errors import ToriError
from tori_tui.workspace.programs import find_program

CHECKPOINTS_NAME: Final = "checkpoints"
ROOT_NAME: Final = "root"
"""In the git directory: the path of the work tree, for who looks at the folder."""

ATTRIBUTES: Final = "* -text -filter -ident -working-tree-encoding\n"
"""From DESIGN §13: every byte as it is, whatever the tree's own attributes want."""

_SETTINGS: Final = (
    ("core.bare", "false"),
    ("core.autocrlf", "false"),
    ("core.fileMode", "true"),
    ("core.symlinks", "true"),
    ("core.ignoreCase", "false"),
    # These two refuse names that only other systems cannot have.
    ("core.protectNTFS", "false"),
    ("core.protectHFS", "false"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.looseCompression", "1"),
    ("core.compression", "1"),
    ("gc.auto", "0"),
)

GIT_VARIABLES: Final = "GIT_"

LIMIT_S: Final = 300.0
"""Several times what a first save of a tree takes that is as large as is saved whole."""

REFS: Final = "refs/tori"
"""Below it a folder for each owner of checkpoints, and in it a ref for each tree."""

_PLAIN_REF: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


class GitFailed(ToriError):
    """A git command on the shadow directory ended with an error."""


class GitStuck(GitFailed):
    """It did not end, and would not at another try."""


def shadow_directory(state_dir: Path, root: Path) -> Path:
    """Return where the checkpoints of a work tree lie."""
    digest = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:32]
    return state_dir / CHECKPOINTS_NAME / digest


def find_git(environ: Mapping[str, str], root: Path) -> str | None:
    """Return the git program, never one that lies in the work tree; None where there is none."""
    return find_program("git", environ, root)


@dataclass(slots=True)
class ShadowGit:
    """The shadow directory of one work tree. Methods block; call them in a thread, inside `locked`."""

    directory: Path
    root: Path
    git: str
    environ: Mapping[str, str]
    _lock: int = field(default=-1, init=False)
    _mutex: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the directory alone: against other threads, sessions and left-over git processes.

        The lock is handed down to the git processes, so that one which outlives a killed tori keeps it.
        """
        with self._mutex:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock = os.open(self.directory / "tori.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                with suppress(OSError):  # a file system without locks
                    fcntl.flock(self._lock, fcntl.LOCK_EX)
                self._make_ready()
                yield
            finally:
                os.close(self._lock)
                self._lock = -1

    def run(self, *arguments: str, feed: bytes = b"", index: Path | None = None) -> bytes:
        """Run a git command and return what it printed.

        Raises:
            GitFailed: It ended with an error.
        """
        process = self.start(*arguments, index=index)
        try:
            output, errors = process.communicate(feed, LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise GitStuck(f"git {arguments[0]} on the checkpoints did not end in {LIMIT_S:g} s.") from None
        if process.returncode:
            raise _failure(arguments, process.returncode, errors)
        return output

    def finish(self, process: subprocess.Popen[bytes]) -> bytes:
        """Wait for a started command that reads nothing, and return what it printed."""
        output, errors = process.communicate()
        if process.returncode:
            raise _failure(process.args if isinstance(process.args, list) else [], process.returncode, errors)
        return output

    def start(
        self, *arguments: str, work_tree: Path | None = None, index: Path | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a git command in the work tree; it has a process group of its own, so no Ctrl+C meets it."""
        settings = [part for key, value in _SETTINGS for part in ("-c", f"{key}={value}")]
        return subprocess.Popen(
            [self.git, *settings, *arguments],
            cwd=work_tree or self.root,
            env=self._environment(work_tree, index),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(self._lock,) if self._lock >= 0 else (),
            process_group=0,
        )

    def has(self, name: str) -> bool:
        """Say whether an object is there."""
        try:
            self.run("cat-file", "-e", name)
        except GitFailed:
            return False
        return True

    @contextmanager
    def blobs(self) -> Iterator[BlobReader]:
        """Open a reader of many objects."""
        process = self.start("cat-file", "--batch")
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield BlobReader(process.stdin, process.stdout)
        finally:
            process.stdin.close()
            process.stdout.close()
            if process.stderr is not None:
                process.stderr.close()
            process.wait()

    def _environment(self, work_tree: Path | None, index: Path | None) -> dict[str, str]:
        environment = {k: v for k, v in self.environ.items() if not k.startswith(GIT_VARIABLES)}
        return environment | {
            "GIT_DIR": str(self.directory),
            "GIT_WORK_TREE": str(work_tree or self.root),
            "GIT_INDEX_FILE": str(index or self.directory / "index"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_LITERAL_PATHSPECS": "1",
            "LC_ALL": "C",
        }

    def _make_ready(self) -> None:
        """Make the directory, or mend what a kill left behind: nobody else works in it now."""
        for left in ("index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"):
            (self.directory / left).unlink(missing_ok=True)
        if (self.directory / ROOT_NAME).exists():
            return
        for folder in ("objects", "refs", "info"):
            (self.directory / folder).mkdir(exist_ok=True)
        info = self.directory / "info"
        (self.directory / "HEAD").write_text("ref: refs/heads/none\n")
        (self.directory / "config").write_text("[core]\n\trepositoryformatversion = 0\n")
        (info / "attributes").write_text(ATTRIBUTES)
        (info / "exclude").write_text(self._excluded())
        # Last: what stands here says that the rest is whole.
        (self.directory / ROOT_NAME).write_text(f"{self.root}\n", errors="surrogateescape")

    def _excluded(self) -> str:
        """Return the patterns of what is never part of a checkpoint: traces, and tori's own state."""
        state = self.directory.parent.parent
        own = f"/{state.relative_to(self.root).as_posix()}/\n" if state.is_relative_to(self.root) else ""
        return f"/.trace/\n{own}"


@dataclass(frozen=True, slots=True)
class BlobReader:
    """Reads objects one after the other."""

    requests: IO[bytes]
    answers: IO[bytes]

    def read(self, name: str) -> bytes | None:
        """Return an object's content; None where it is gone."""
        self.requests.write(name.encode("utf-8", "surrogateescape") + b"\n")
        self.requests.flush()
        head = self.answers.readline().rstrip(b"\n")
        if head.endswith((b" missing", b" ambiguous")):
            return None
        size = int(head.rsplit(b" ", 1)[1])
        data = self.answers.read(size)
        self.answers.read(1)
        return data


def blob_name(data: bytes) -> str:
    """Return the name that git gives to a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def ref_part(owner: str) -> str:
    """Return an owner's name as a part of a ref."""
    return owner if _PLAIN_REF.fullmatch(owner) else hashlib.sha256(owner.encode()).hexdigest()[:32]


def paths_of(listing: bytes) -> list[str]:
    """Return the paths of a listing whose entries end with a zero byte."""
    return [os.fsdecode(part) for part in listing.split(b"\0") if part]


def _failure(arguments: Sequence[object], code: int, errors: bytes) -> GitFailed:
    said = errors.decode("utf-8", "replace").strip()[-500:]
    command = next((str(a) for a in arguments if "-" in str(a) and "=" not in str(a)), "git")
    return GitFailed(f"git {command} on the checkpoints ended with {code}: {said or 'no word'}.")


__all__ = [
    "CHECKPOINTS_NAME",
    "REFS",
    "BlobReader",
    "GitFailed",
    "GitStuck",
    "ShadowGit",
    "blob_name",
    "find_git",
    "paths_of",
    "ref_part",
    "shadow_directory",
]
