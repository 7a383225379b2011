"""The work tree that the agent may touch, and which paths lead into it.

Must not read or write any file's content; `files` does.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import ToriError

TRACE_FOLDER: Final = ".trace"
"""In the root: tori's own records. Readable (long results are kept there), never writable."""

CUT_FOLDERS: Final = frozenset({".git", TRACE_FOLDER})
"""Names that no search goes into."""


class PathInvalid(ToriError):
    """A path that cannot name a file at all."""


class PathOutside(ToriError):
    """A path that leads out of the work tree."""


class PathProtected(ToriError):
    """A path in the work tree that tori keeps for itself."""


class Workspace:
    """A work tree: its root, and the folder in it from which relative paths are meant.

    Args:
        root: The work tree.
        cwd: Where relative paths begin; the root if None.
        also_readable: Folders outside that may be read, for example that of the trace where it could
            not be put into the root.
        copy_of: The tree of which this one is a copy: absolute paths into it mean the copy.
    """

    def __init__(
        self,
        root: Path,
        cwd: Path | None = None,
        also_readable: tuple[Path, ...] = (),
        copy_of: Path | None = None,
    ) -> None:
        self.root: Final = Path(os.path.realpath(root))
        self.cwd: Final = Path(os.path.realpath(cwd)) if cwd else self.root
        self._copy_of = Path(os.path.realpath(copy_of)) if copy_of else None
        self._also_readable = tuple(Path(os.path.realpath(folder)) for folder in also_readable)

    def resolve(self, path: str) -> Path:
        """Return the file that a path means, for reading: absolute, every link followed.

        The file need not exist; where a link dangles, its target must be inside as well.

        Raises:
            PathInvalid: It is empty, not a path of this system, or its links go in a circle.
            PathOutside: It leads out of the work tree.
        """
        resolved = self._real(path)
        if self._is_inside(resolved) or any(map(resolved.is_relative_to, self._also_readable)):
            return resolved
        leads_to = "" if str(resolved) == path else f" (it leads to {resolved})"
        raise PathOutside(
            f"{path!r} is outside the work tree{leads_to}.", f"Use a path inside {self.root} only."
        )

    def resolve_for_writing(self, path: str) -> Path:
        """Return the file that a path means, for writing; a link stands for its target.

        Raises:
            PathInvalid: As `resolve`.
            PathOutside: As `resolve`.
            PathProtected: It is in tori's own records.
        """
        resolved = self.resolve(path)
        if not self._is_inside(resolved):
            raise PathOutside(f"{path!r} may be read but not written.", f"Write inside {self.root} only.")
        if resolved == self.root:
            raise PathInvalid(f"{path!r} is the work tree itself.", "Name a file in it.")
        if self.is_trace(resolved):
            raise PathProtected(
                f"{path!r} belongs to tori's own records, which nobody may change.", "Write elsewhere."
            )
        return resolved

    def is_trace(self, resolved: Path) -> bool:
        """Say whether a resolved path lies in tori's own records."""
        return resolved.is_relative_to(self.root / TRACE_FOLDER)

    def relative(self, resolved: Path) -> str:
        """Return a resolved path as records name it: from the root, with `/`; absolute if outside."""
        return (
            resolved.relative_to(self.root).as_posix() if self._is_inside(resolved) else resolved.as_posix()
        )

    def shown(self, resolved: Path) -> str:
        """Return a resolved path as the model may use it: from the cwd, absolute if outside."""
        if not self._is_inside(resolved):
            return resolved.as_posix()
        return Path(os.path.relpath(resolved, self.cwd)).as_posix()

    def _is_inside(self, resolved: Path) -> bool:
        return resolved.is_relative_to(self.root)

    def _real(self, path: str) -> Path:
        if not path.strip():
            raise PathInvalid("The path is empty.", "Name a file or folder of the work tree.")
        if "\0" in path:
            raise PathInvalid(f"{path!r} holds a NUL character.", "Leave it out.")
        wanted = self._in_copy(self.cwd / self._expanded(path))
        try:
            resolved = os.path.realpath(wanted)
            os.lstat(resolved)
        except FileNotFoundError:
            pass
        except UnicodeEncodeError:
            raise PathInvalid(f"{path!r} holds characters that no path can have.", "Spell it anew.") from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENAMETOOLONG):
                raise PathInvalid(
                    f"{path[:200]!r}: {os.strerror(error.errno)}.", "Use another path."
                ) from None
        if os.path.islink(resolved):
            raise PathInvalid(f"{path!r} is a link that leads back to itself.", "Use another path.")
        return Path(resolved)

    def _in_copy(self, wanted: Path) -> Path:
        original = self._copy_of
        if original is None or not wanted.is_relative_to(original) or wanted.is_relative_to(self.root):
            return wanted
        return self.root / wanted.relative_to(original)

    def _expanded(self, path: str) -> str:
        """Take a leading `~` for the home, unless a file of the tree is really called so."""
        if (path == "~" or path.startswith("~/")) and not os.path.lexists(self.cwd / path):
            return os.path.expanduser(path)
        return path


__all__ = ["CUT_FOLDERS", "TRACE_FOLDER", "PathInvalid", "PathOutside", "PathProtected", "Workspace"]
