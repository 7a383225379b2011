"""A process that goes to and fro in a tree, in children that die before one more change each time."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Final

from tests.workspace.going_back_kit import OWNER, Saver, content_of, git_tree
from tests.workspace.test_checkpoints import agent_works
from tori_tui.workspace.restore import Journal, begin, forget

CHANGES: Final = {"open", "os.remove", "os.rmdir", "os.rename", "os.mkdir", "os.chmod", "os.symlink"}
"""What Python announces (PEP 578) before a call that may change a folder or a file."""


def die_before(place: int) -> None:
    """Kill this process before its change number `place`, counted from now on."""
    n_seen = 0

    def look(event: str, _arguments: object) -> None:
        nonlocal n_seen
        if event in CHANGES:
            n_seen += 1
            if n_seen == place:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)


def restore_in_child(saver: Saver, place: int) -> bool:
    """Restore the state before the newest one; returns whether the child was killed."""
    plan = saver.plan(len(saver.chain) - 2)
    if child := os.fork():
        _, status = os.waitpid(child, 0)
        assert status in (0, signal.SIGKILL), status
        return status != 0
    die_before(place)
    begin(saver.checkpoints.shadow, Journal(OWNER, "/nonexistent", plan.steps, {}))
    forget(saver.checkpoints.shadow, OWNER)
    os._exit(0)


def main(folder: Path) -> None:
    """Kill before each change of each direction; what stands there afterwards must be one of two states."""
    root = git_tree(folder / "tree")
    saver = Saver(root, folder / "state")
    there = content_of(root)
    saver.save("user")
    agent_works(root)
    here = content_of(root)
    saver.save()
    place, was_killed, n_done = 0, True, 0
    while was_killed:
        place += 1
        for direction in ("to", "fro"):
            was_killed = restore_in_child(saver, place)
            saver.save()
            now = content_of(root)
            if now not in (here, there):
                differ = {path for path in {*now, *here, *there} if now.get(path) != there.get(path)}
                sys.exit(f"killed before change {place} {direction}: neither old nor new: {differ}")
            if now == there:
                here, there, n_done = there, here, n_done + 1
            else:
                saver.chain.pop()
    sys.stdout.write(f"{place} {n_done}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
