"""The main job in small: a repository with a failing test, and a model that mends it in eight turns."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.wire.answers import Answer, WireCall, WireReply, WireRequest

OPS = "def add(a, b):\n    return a - b\n\n\ndef double(a):\n    return add(a, a)\n"
TEST = """import unittest

from calc import ops


class AddTest(unittest.TestCase):
    def test_adds(self):
        self.assertEqual(ops.add(2, 3), 5)

    def test_doubles(self):
        self.assertEqual(ops.double(4), 8)
"""
FIXED = OPS.replace("a - b", "a + b")
RUN_TESTS = "python3 -B -m unittest -q tests.test_ops"
ANSWER = "add subtracted; now it adds, and both tests pass."
SUMMARY = "add() in calc/ops.py subtracted; changed - to +; tests/test_ops.py: 2 tests pass."

LOST = ("Not run", "Interrupted")

TURNS = (
    WireReply(
        "First the plan.",
        (
            WireCall("goal", {"add": f"Mend the failing test [check: {RUN_TESTS}]", "focus": "1"}),
            WireCall("glob_files", {"pattern": "**/*.py"}),
        ),
    ),
    WireReply("", (WireCall("grep_files", {"pattern": "def add"}),)),
    WireReply("", (WireCall("read_file", {"path": "calc/ops.py"}),)),
    WireReply("", (WireCall("read_file", {"path": "tests/test_ops.py"}),)),
    WireReply(
        "It subtracts.", (WireCall("edit_file", {"path": "calc/ops.py", "old": "a - b", "new": "a + b"}),)
    ),
    WireReply("", (WireCall("bash", {"command": RUN_TESTS}),)),
    WireReply("", (WireCall("goal", {"done": SUMMARY}),)),
    WireReply(ANSWER),
)
"""Eight replies: glob, grep, read, read, edit, run the tests, goal done, answer."""


def mend(request: WireRequest) -> Answer:
    """Choose the next reply by the history that was sent, so that a killed client goes on."""
    return TURNS[min(steps_seen(request), len(TURNS) - 1)]


def steps_seen(request: WireRequest) -> int:
    """Count the steps that the client has taken, folded or not; one that a kill cut off is taken again."""
    if any(SUMMARY[:30] in text for text in request.user_texts) and request.n_replies <= 1:
        return 7
    step, results = 0, list(request.results)
    while results and step < len(TURNS) - 1:
        first, results = results[0], results[len(TURNS[step].calls) :]
        step += not first.startswith(LOST)
    return step


def make_repository(root: Path) -> Path:
    """Make the repository with its failing test, committed."""
    (root / "calc").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "calc" / "__init__.py").write_text("")
    (root / "calc" / "ops.py").write_text(OPS)
    (root / "tests" / "__init__.py").write_text("")
    (root / "tests" / "test_ops.py").write_text(TEST)
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    return root
