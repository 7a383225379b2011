"""A saved tree as a folder of its own, and saved trees kept for a further owner.

Must not write into the work tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tori_tui.domain.errors import UsageError
from tori_tui.workspace.shadow_git import REFS, ShadowGit, ref_part


def copy_tree(shadow: ShadowGit, tree: str, folder: Path, empty_folders: Iterable[str] = ()) -> None:
    """Write a saved tree into a folder that is empty or not there yet.

    Raises:
        UsageError: The folder holds something.
        GitFailed: The tree is gone.
    """
    if folder.exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} is not empty.", "Name a new folder.")
    folder.mkdir(parents=True, exist_ok=True)
    index = shadow.directory / "index.of-copy"
    with shadow.locked():
        index.unlink(missing_ok=True)
        try:
            shadow.run("read-tree", tree, index=index)
            prefix = f"--prefix={folder.resolve()}/"
            shadow.run("checkout-index", "--all", "--quiet", prefix, index=index)
        finally:
            index.unlink(missing_ok=True)
    for name in empty_folders:
        (folder / name).mkdir(parents=True, exist_ok=True)


def keep_for(shadow: ShadowGit, owner: str, trees: Iterable[str]) -> None:
    """Keep saved trees for a further owner, such as a fork of the trace that they were saved for."""
    lines = "".join(f"update {REFS}/{ref_part(owner)}/{tree} {tree}\n" for tree in trees)
    with shadow.locked():
        shadow.run("update-ref", "--stdin", feed=lines.encode())


def borrow_objects(shadow: ShadowGit, lender: ShadowGit) -> None:
    """Let a directory read the objects of another one, for the trees that a copied trace names."""
    with shadow.locked():
        info = shadow.directory / "objects" / "info"
        info.mkdir(parents=True, exist_ok=True)
        (info / "alternates").write_text(f"{lender.directory / 'objects'}\n")


__all__ = ["borrow_objects", "copy_tree", "keep_for"]
