"""A process of its own that saves, goes back or forth in a tree, to be killed in the middle."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

from tests.workspace.going_back_kit import ENVIRON, OWNER
from tori_tui.workspace.checkpoints import Checkpoints
from tori_tui.workspace.restore import Journal, begin, forget
from tori_tui.workspace.restore_plan import SavedState, plan_restore
from tori_tui.workspace.tree_changes import changes_between


def main(root: Path, state: Path, chain: list[SavedState]) -> None:
    """Save the present and restore the first state of the chain, saying when it begins."""
    checkpoints = Checkpoints.open(root, state, ENVIRON)
    assert checkpoints is not None
    sys.stdout.write("begun\n")
    sys.stdout.flush()
    saved = checkpoints.save(OWNER)
    chain = [*chain, SavedState(saved.tree, "user", saved.left_out, saved.empty_folders)]
    pairs = [(a.tree, b.tree) for a, b in pairwise(chain)]
    plan = plan_restore(chain, changes_between(checkpoints.shadow, pairs))
    begin(checkpoints.shadow, Journal(OWNER, "/nonexistent", plan.steps, {}))
    forget(checkpoints.shadow, OWNER)


if __name__ == "__main__":
    states = [SavedState(tree, by, (), tuple(folders)) for tree, by, folders in json.loads(sys.argv[3])]
    main(Path(sys.argv[1]), Path(sys.argv[2]), states)
