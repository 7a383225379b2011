"""Whether a folder's own `.tori/` counts: the user's answers, each bound to what the files said then.

Must not read what the files mean, nor ask anybody.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

OWN_FOLDER: Final = ".tori"
CONFIG_NAME: Final = "config.toml"
AGENTS_NAME: Final = "agents"
COMMANDS_NAME: Final = "commands"

ANSWERS_NAME: Final = "trusted_folders.json"
"""Below the state folder: for each `.tori` its hash and `yes` or `no`."""

FILE_LIMIT_BYTES: Final = 1_000_000
"""A larger file is neither configuration nor an agent or a command; a folder with one is never trusted."""

Answer = Literal["yes", "no", ""]
"""Empty: the user was not asked about these files as they are."""


@dataclass(frozen=True, slots=True)
class OwnFiles:
    """What a folder's `.tori/` said at one moment."""

    folder: Path
    """The `.tori` itself."""
    files: Mapping[str, bytes]
    """By name below it: `config.toml`, `agents/NAME.md`, `commands/NAME.md`."""
    unreadable: str = ""
    """The first file that cannot be read whole; such a folder cannot be trusted."""

    @property
    def digest(self) -> str:
        """The hash of all names and bytes, in an order of its own."""
        whole = hashlib.sha256()
        for name, data in sorted(self.files.items()):
            whole.update(f"{len(name.encode())}:{name}:{len(data)}:".encode() + data)
        return whole.hexdigest()


def own_files(cwd: Path) -> OwnFiles | None:
    """Read the `.tori/` nearest to a folder, up to the root of its work tree; None where there is none."""
    for folder in _up_to_root(cwd):
        own = folder / OWN_FOLDER
        files, unreadable = _read_all(own)
        if files or unreadable:
            return OwnFiles(own, files, unreadable)
    return None


class FolderTrust:
    """The user's answers, in one file.

    Args:
        state_dir: `$XDG_STATE_HOME/tori`.
    """

    def __init__(self, state_dir: Path) -> None:
        self._path = state_dir / ANSWERS_NAME

    @property
    def path(self) -> Path:
        """The file with the answers."""
        return self._path

    def answer(self, own: OwnFiles) -> Answer:
        """Return what the user said of exactly these files."""
        if own.unreadable:
            return "no"
        kept = self._kept().get(str(own.folder))
        if not isinstance(kept, dict) or kept.get("sha256") != own.digest:
            return ""
        return "yes" if kept.get("trusted") == "yes" else "no"

    def counts(self, folder: Path) -> bool:
        """Say whether a `.tori` counts as it is on the disk now."""
        files, unreadable = _read_all(folder)
        return self.answer(OwnFiles(folder, files, unreadable)) == "yes"

    def save(self, own: OwnFiles, answer: Literal["yes", "no"]) -> None:
        """Keep an answer.

        Raises:
            OSError: It cannot be written.
        """
        kept = {**self._kept(), str(own.folder): {"sha256": own.digest, "trusted": answer}}
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = self._path.with_name(f".{ANSWERS_NAME}.{os.getpid()}.partial")
        handle = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
        partial.replace(self._path)

    def _kept(self) -> dict[str, object]:
        # A file that says nothing sure trusts nothing.
        try:
            kept = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return kept if isinstance(kept, dict) else {}


def _up_to_root(cwd: Path) -> Iterator[Path]:
    folders = (cwd, *cwd.parents)
    root = next((place for place, folder in enumerate(folders) if (folder / ".git").exists()), 0)
    # Outside a repository the folder itself is the work tree: a stranger's `/tmp/.tori` is none of it.
    yield from folders[: root + 1]


def _read_all(own: Path) -> tuple[dict[str, bytes], str]:
    files: dict[str, bytes] = {}
    for name in _names(own):
        data = _read(own / name)
        if data is None:
            return files, name
        files[name] = data
    return files, ""


def _names(own: Path) -> Iterator[str]:
    if os.path.lexists(own / CONFIG_NAME):
        yield CONFIG_NAME
    for folder in (AGENTS_NAME, COMMANDS_NAME):
        with suppress(OSError):
            names = sorted(os.listdir(own / folder))
            yield from (f"{folder}/{name}" for name in names if name.endswith(".md"))


def _read(path: Path) -> bytes | None:
    """Return a file's bytes; None for what is no regular file, too large, or closed to us."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return None
    with os.fdopen(handle, "rb") as file:
        data = file.read(FILE_LIMIT_BYTES + 1)
    return data if len(data) <= FILE_LIMIT_BYTES else None


__all__ = [
    "AGENTS_NAME",
    "ANSWERS_NAME",
    "COMMANDS_NAME",
    "CONFIG_NAME",
    "OWN_FOLDER",
    "Answer",
    "FolderTrust",
    "OwnFiles",
    "own_files",
]
