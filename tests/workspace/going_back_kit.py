"""Real trees with everything that a work tree may hold, and what the user would notice."""

from __future__ import annotations

import os
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

from tori_tui.workspace.checkpoints import Checkpoints
from tori_tui.workspace.file_modes import read_modes
from tori_tui.workspace.glance import Glance, glance
from tori_tui.workspace.restore import Journal, begin, forget
from tori_tui.workspace.restore_plan import RestorePlan, SavedState, plan_restore
from tori_tui.workspace.tree_changes import changes_between

ENVIRON = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
OWNER = "20260101-000000-abcd"


def git(root: Path, *arguments: str) -> str:
    environment = ENVIRON | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    done = subprocess.run(["git", *arguments], cwd=root, env=environment, capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def plain_tree(root: Path) -> Path:
    """Make a tree of many kinds of files, without git."""
    root.mkdir(parents=True)
    (root / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    (root / ".gitattributes").write_text("* text=auto eol=lf\n*.dat filter=lfs diff=lfs\n")
    (root / ".gitignore").write_text("*.o\nbuild/\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("a.txt")
    (root / "dangling").symlink_to("nowhere")
    (root / "blob.dat").write_bytes(bytes(range(256)))
    (root / "old.txt").write_text("to be renamed\n" * 20)
    (root / "gone.txt").write_text("to be deleted\n")
    (root / "empty").mkdir()
    (root / "build").mkdir()
    (root / "build" / "out.o").write_bytes(b"built")
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "sub" / "deep" / "with space\nand line.txt").write_text("odd name\n")
    (root / "no newline").write_text("x")
    return root


def git_tree(root: Path) -> Path:
    """Make the same tree as a repository with staged, unstaged, untracked changes and a nested repository."""
    plain_tree(root)
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "core.hooksPath", ".githooks")
    git(root, "config", "filter.lfs.clean", "false")
    git(root, "config", "filter.lfs.required", "false")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    (root / "a.txt").write_bytes(b"one\r\nstashed\r\n")
    git(root, "stash", "-q")
    (root / ".githooks").mkdir()
    (root / ".githooks" / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
    (root / ".githooks" / "pre-commit").chmod(0o755)
    (root / "a.txt").write_bytes(b"one\r\nstaged\r\n")
    git(root, "add", "a.txt")
    (root / "a.txt").write_bytes(b"one\r\nstaged\r\nunstaged\r\n")
    git(root, "mv", "old.txt", "renamed.txt")
    (root / "gone.txt").unlink()
    (root / "untracked.txt").write_text("mine\n")
    nested = root / "nested"
    nested.mkdir()
    git(nested, "init", "-q")
    (nested / "inner.txt").write_text("inner\n")
    git(nested, "add", "-A")
    git(nested, "commit", "-qm", "inner")
    (nested / "loose.txt").write_text("loose\n")
    return root


Content = dict[str, tuple[str, int, bytes]]


def content_of(root: Path, *, without: tuple[str, ...] = (".git", ".trace")) -> Content:
    """Return everything in a tree: kind, mode and bytes by path; empty folders too."""
    found: Content = {}
    for place, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in without]
        for name in (*files, *folders):
            path = Path(place, name)
            key = str(path.relative_to(root))
            mode = path.lstat().st_mode & 0o777
            if path.is_symlink():
                found[key] = ("link", 0, os.fsencode(os.readlink(path)))
            elif path.is_dir():
                found[key] = ("folder", mode, b"")
            else:
                found[key] = ("file", mode, path.read_bytes())
    return found


def git_traces(root: Path) -> Content:
    """Return what the user's repositories hold beside objects: index, refs, stash, reflog, hooks, config."""
    found: Content = {}
    for dot_git in sorted(root.rglob(".git")):
        if dot_git.is_dir():
            for key, value in content_of(dot_git, without=()).items():
                found[f"{dot_git}/{key}"] = value
    return found


class Saver:
    """Saves states of a tree as a session does."""

    def __init__(self, root: Path, state: Path) -> None:
        opened = Checkpoints.open(root, state, ENVIRON)
        assert opened is not None
        self.checkpoints = opened
        self.chain: list[SavedState] = []
        self._seen: Glance | None = None

    def save(self, by: str = "agent", touched: tuple[str, ...] = ()) -> SavedState:
        now = glance(self.checkpoints.shadow.root)
        saved = self.checkpoints.save_since(self._seen, now, OWNER, touched)
        self._seen = now
        state = SavedState(
            saved.tree,
            "user" if by == "user" else "agent",
            saved.left_out,
            saved.empty_folders,
            saved.is_partial,
            read_modes(self.checkpoints.shadow, [saved.modes])[saved.modes],
        )
        self.chain.append(state)
        return state

    def plan(self, index: int, befores: dict[str, str | None] | None = None) -> RestorePlan:
        chain = self.chain[index:]
        pairs = [(a.tree, b.tree) for a, b in pairwise(chain)]
        return plan_restore(chain, changes_between(self.checkpoints.shadow, pairs), befores)

    def go_back(self, index: int, befores: dict[str, str | None] | None = None) -> tuple[str, ...]:
        """Save the present as the user's, restore, save what came of it; return what was left alone."""
        self.save("user")
        plan = self.plan(index, befores)
        shadow = self.checkpoints.shadow
        left_alone = begin(shadow, Journal(OWNER, "/nonexistent", plan.steps, {}))
        forget(shadow, OWNER)
        self.save("agent")
        return (*plan.left_alone, *left_alone)


def copy_of(root: Path, to: Path) -> Path:
    shutil.copytree(root, to, symlinks=True)
    return to
