"""Where the app finds the files that a conversation names, and what checkpoints saved.

Must not change a file or a checkpoint.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import UsageError
from tori_tui.ui.file_port import FilePort, FoundFile

READ_LIMIT_BYTES: Final = 2_000_000
"""More nobody scrolls through; the editor has the whole."""


def file_port(root: Path, cwd: Path) -> FilePort:
    """Return what the app may ask about the files of a work tree.

    Args:
        root: The work tree.
        cwd: Where commands run; names are looked for there first.
    """
    return FilePort(
        find=partial(find_file, root, cwd),
        read=read_text,
        count_changes=partial(count_changes, root),
        tree_diff=partial(tree_diff, root),
    )


def find_file(root: Path, cwd: Path, name: str) -> FoundFile | None:
    """Return the regular file that a name means, or None."""
    for folder in (cwd, root):
        try:
            path = Path(os.path.realpath(folder / Path(name).expanduser()))
            is_file = stat.S_ISREG(path.stat().st_mode)
        except (OSError, ValueError, RuntimeError):  # not there, no name at all, no such home
            continue
        if is_file:
            return FoundFile(str(path), name, path.is_relative_to(os.path.realpath(root)))
    return None


def read_text(path: str) -> str:
    """Return a file's text, of a very large one the beginning.

    Raises:
        UsageError: It cannot be read, or is no text.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(READ_LIMIT_BYTES)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.", "Open it in your editor.") from None
    if b"\0" in data:
        raise UsageError(f"{path} is no text.", "Open it with a program for its kind.")
    return data.decode("utf-8", "replace")


def count_changes(root: Path, pairs: Sequence[tuple[str, str]]) -> Sequence[int]:
    """Return how many files differ between saved trees, for each pair.

    Raises:
        ToriError: There are no checkpoints, or a tree is gone.
    """
    from tori_tui.cli.diff_trace import shadow_of
    from tori_tui.workspace.tree_changes import changes_between

    shadow = shadow_of(root)
    with shadow.locked():
        return [len(changed) for changed in changes_between(shadow, pairs)]


def tree_diff(root: Path, before: str, after: str) -> str:
    """Return what differs between two saved trees, as a unified diff.

    Raises:
        ToriError: There are no checkpoints, or a tree is gone.
    """
    from tori_tui.cli.diff_trace import shadow_of
    from tori_tui.workspace.tree_changes import diff_text

    shadow = shadow_of(root)
    with shadow.locked():
        return diff_text(shadow, before, after)


__all__ = ["file_port", "find_file", "read_text"]
