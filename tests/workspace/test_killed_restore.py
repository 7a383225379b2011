from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

from tests.workspace.going_back_kit import Saver, content_of, git_tree
from tests.workspace.test_checkpoints import agent_works
from tori_tui.workspace.shadow_git import REFS

N_KILLS = 6
N_FILES = 60
N_SAVE_KILLS = 5


def restore_in_process(root: Path, state: Path, saver: Saver, index: int, kill_after_s: float | None) -> None:
    chain = json.dumps([(s.tree, s.by, s.empty_folders) for s in saver.chain[index:]])
    command = (sys.executable, "-m", "tests.workspace.killed_restorer", str(root), str(state), chain)
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        if kill_after_s is not None:
            time.sleep(kill_after_s)
            process.kill()


def test_a_kill_before_each_single_change_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    command = (sys.executable, "-m", "tests.workspace.killed_everywhere", str(tmp_path))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    n_places, n_restored = map(int, done.stdout.split())
    assert n_places > 20
    assert n_places < n_restored < 2 * n_places  # a kill before the first change leaves the old state


def test_a_kill_at_any_moment_leaves_the_old_or_the_new_state(tmp_path: Path) -> None:
    root, state = git_tree(tmp_path / "tree"), tmp_path / "state"
    for number in range(N_FILES):
        (root / f"many-{number}.txt").write_text(f"{number} before\n")
    saver = Saver(root, state)
    first = content_of(root)
    saver.save("user")
    agent_works(root)
    for number in range(N_FILES):
        (root / f"many-{number}.txt").write_text(f"{number} after\n")
    second = content_of(root)
    saver.save()
    began = time.monotonic()
    restore_in_process(root, state, saver, 0, None)
    whole_s = time.monotonic() - began
    assert content_of(root) == first
    saver.save()
    here, there = first, second
    dice = random.Random(7)
    outcomes = set()
    for kill in range(N_KILLS):
        # To and fro: the chain's newest state but one is always where it is to go.
        index = len(saver.chain) - 2
        restore_in_process(root, state, saver, index, dice.uniform(0, whole_s) if kill else 0.0)
        # Whoever works in the tree next finishes what was begun.
        finished = Saver(root, state)
        saver.chain.append(finished.save())
        now = content_of(root)
        assert now in (here, there)
        outcomes.add(now == there)
        if now == there:
            here, there = there, here
        else:
            saver.chain.pop()
    assert outcomes == {True, False}
    assert not list(root.rglob(".tori-restore-*"))


def test_a_kill_in_a_checkpoint_leaves_every_saved_tree_whole_and_the_next_one_right(tmp_path: Path) -> None:
    root, state = git_tree(tmp_path / "tree"), tmp_path / "state"
    command = (sys.executable, "-m", "tests.workspace.killed_saver", str(root), str(state))
    dice = random.Random(11)
    for _ in range(N_SAVE_KILLS):
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(dice.uniform(0, 0.1))
            process.kill()
        saver = Saver(root, state)
        now = saver.save()
        shadow = saver.checkpoints.shadow
        # git says nothing where nothing is broken or missing; half-written objects are no objects.
        assert shadow.run("fsck", "--full", "--no-dangling") == b""
        refs = [path.name for path in (shadow.directory / REFS).rglob("*") if path.is_file()]
        assert all(shadow.has(name) for name in refs)
        assert now.tree == Saver(root, tmp_path / "fresh").save().tree
        assert now.modes == (
            {"run.sh": 0o700} if root.joinpath("run.sh").stat().st_mode & 0o777 == 0o700 else {}
        )
