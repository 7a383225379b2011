"""The permissions that git does not keep: whatever a file has beside what new files get.

Must not change a file's permissions; `restore` does.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tori_tui.workspace.loose_objects import write_object
from tori_tui.workspace.shadow_git import ShadowGit

MODES_NAME: Final = "modes.json"
"""In the shadow directory: of every file in its index that has unusual permissions."""

LOOKS_LIMIT: Final = 2_000
"""A look at so many takes about 5 ms."""

NEW_FILE: Final = 0o666
NEW_PROGRAM: Final = 0o777
COMMON_UMASK: Final = 0o022
"""Where the system does not tell."""

_UMASK_LINE: Final = re.compile(r"^Umask:\s*([0-7]+)$", re.MULTILINE)

Modes = Mapping[str, int]
"""Permission bits by path; a file that is not named has those that new files get."""


def process_umask() -> int:
    """Return the mask for new files without changing it, which the usual way to ask would do for a moment."""
    try:
        found = _UMASK_LINE.search(Path("/proc/self/status").read_text())
    except OSError:
        found = None
    return int(found[1], 8) if found else COMMON_UMASK


def usual_bits(*, is_executable: bool, umask: int) -> int:
    """Return the permissions that a new file gets."""
    return (NEW_PROGRAM if is_executable else NEW_FILE) & ~umask


@dataclass(slots=True)
class KnownModes:
    """The permissions of the files in the index of a shadow directory."""

    directory: Path
    umask: int = field(default_factory=process_umask)
    _unusual: dict[str, int] = field(default_factory=dict)
    _seen: tuple[int, int] | None = None
    _blob: str | None = None

    def load(self) -> None:
        """Take over what another session has noted. Call it inside `locked`."""
        try:
            status = os.stat(self.directory / MODES_NAME)
            seen = (status.st_mtime_ns, status.st_ino)
            if seen == self._seen:
                return
            noted = json.loads((self.directory / MODES_NAME).read_bytes())
        except (OSError, ValueError):
            return
        self._unusual = {path: bits for path, bits in noted.items() if isinstance(bits, int)}
        self._seen, self._blob = seen, None

    def look_again(self, root: Path) -> None:
        """Look at those that are known to be unusual: git counts in seconds and may not see a change."""
        if len(self._unusual) > LOOKS_LIMIT:
            return
        facts: list[tuple[str, int]] = []
        for path in self._unusual:
            with suppress(OSError):  # gone: git sees that
                facts.append((path, os.lstat(root / path).st_mode))
        self.note(facts, ())

    def note(self, facts: Iterable[tuple[str, int]], gone: Iterable[str]) -> None:
        """Note files by path and mode, and which are gone, before the index takes them over."""
        changes: dict[str, int | None] = dict.fromkeys(gone)
        for path, mode in facts:
            bits = stat.S_IMODE(mode)
            usual = usual_bits(is_executable=bool(mode & stat.S_IXUSR), umask=self.umask)
            changes[path] = None if stat.S_ISLNK(mode) or bits == usual else bits
        changes = {path: bits for path, bits in changes.items() if self._unusual.get(path) != bits}
        if not changes:
            return
        self._unusual |= {path: bits for path, bits in changes.items() if bits is not None}
        for path in (path for path, bits in changes.items() if bits is None):
            del self._unusual[path]
        self._write()

    def saved(self) -> str:
        """Return the name of an object with all of them; empty where none is unusual."""
        if self._blob is None:
            self._blob = write_object(self.directory, "blob", self._encoded()) if self._unusual else ""
        return self._blob

    def _write(self) -> None:
        self._blob = None
        path = self.directory / MODES_NAME
        temporary = path.with_suffix(".new")
        temporary.write_bytes(self._encoded())
        os.replace(temporary, path)
        status = path.stat()
        self._seen = (status.st_mtime_ns, status.st_ino)

    def _encoded(self) -> bytes:
        return json.dumps(dict(sorted(self._unusual.items()))).encode()


def read_modes(shadow: ShadowGit, names: Iterable[str]) -> dict[str, Modes]:
    """Return what `KnownModes.saved` kept, by name; what is gone counts as usual. Call it inside `locked`."""
    found: dict[str, Modes] = {"": {}}
    wanted = set(names) - found.keys()
    if wanted:
        with shadow.blobs() as blobs:
            for name in wanted:
                data = blobs.read(name)
                found[name] = {} if data is None else json.loads(data)
    return found


__all__ = ["KnownModes", "Modes", "process_umask", "read_modes", "usual_bits"]
