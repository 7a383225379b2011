"""A process of its own that changes and saves a tree over and over, to be killed in the middle."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

from tests.workspace.going_back_kit import ENVIRON, OWNER
from tori_tui.workspace.checkpoints import Checkpoints
from tori_tui.workspace.glance import glance


def main(root: Path, state: Path) -> None:
    """Change known files, every third time make one and give another permissions, and save each time."""
    checkpoints = Checkpoints.open(root, state, ENVIRON)
    assert checkpoints is not None
    seen = None
    for number in count():
        (root / "a.txt").write_text(f"{number}\n")
        (root / "run.sh").chmod(0o700 if number % 2 else 0o755)
        if number % 3 == 0:
            (root / f"made-{number}").write_text(f"{number}\n")
        now = glance(root)
        checkpoints.save_since(seen, now, OWNER, (f"made-{number}",) if number % 2 else ())
        seen = now
        sys.stdout.write("saved\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
