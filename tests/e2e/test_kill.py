from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.e2e.bugfix import FIXED, make_repository, mend
from tests.e2e.commands import tori
from tests.fakes.processes import pids_of
from tests.wire.answers import Answer, WireCall, WireReply, WireRequest, by_history
from tests.wire.server import WireServer
from tori_tui.domain.events import MessageAdded
from tori_tui.domain.state import reduce_all
from tori_tui.trace.store import JsonlTraceStore

APPENDS = WireReply("", (WireCall("edit_file", {"path": "log.txt", "old": "end\n", "new": "line\nend\n"}),))

STEPS = (
    WireReply(
        "",
        (
            WireCall("goal", {"add": "One, Two", "focus": "1"}),
            WireCall("read_file", {"path": "log.txt"}),
        ),
    ),
    APPENDS,
    WireReply("", (WireCall("bash", {"command": "echo ran >> ran.txt"}),)),
    WireReply("", (WireCall("goal", {"done": "appended a line", "focus": "2"}),)),
    WireReply("", (WireCall("write_file", {"path": "new.txt", "content": "new\n"}),)),
    WireReply("", (WireCall("goal", {"done": "wrote new.txt"}),)),
    WireReply("All done."),
)


def next_step(request: WireRequest) -> Answer:
    """Do what a model does: repeat a call that was not run or not applied, else take the next step."""
    n_done = 0
    items = list(request.items)
    for index, item in enumerate(items):
        if item.get("role") != "assistant":
            continue
        following = items[index + 1] if index + 1 < len(items) else {}
        n_done += not str(following.get("content", "")).startswith(("Not run", "Not applied"))
    return STEPS[n_done]


N_PLACES = 120
"""More than a whole run has: at the far end nothing is killed any more."""

NEVER = 1_000_000


def make_tree(root: Path) -> Path:
    root.mkdir()
    (root / "log.txt").write_text("begin\nend\n")
    return root


async def killed_run(root: Path, url: str, place: int, mission: str | None) -> tuple[int, list[int]]:
    """Run until the fuse burns; return the exit code and the acknowledged record numbers."""
    arguments = [sys.executable, "-m", "tests.e2e.killable", str(place), str(root)]
    process = await asyncio.create_subprocess_exec(
        *arguments,
        *([mission] if mission else []),
        env={**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "k", "TORI_MODEL": "openai-chat/m"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), err.decode()
    return process.returncode or 0, [int(line) for line in out.split()]


def runs_in(root: Path) -> list[int]:
    """The runs of this tree alone: other tests' are none of ours."""
    return pids_of(f"tests.e2e.killable\0{NEVER}\0{root}")


def has_records(root: Path) -> bool:
    return any(path.stat().st_size for path in (root / ".trace").glob("*/messages.jsonl"))


def numbers_of_the_finished_trace(root: Path) -> set[int]:
    """Prove that the one trace with records is whole and done; return its record numbers."""
    (trace,) = [path.parent for path in (root / ".trace").glob("*/messages.jsonl") if path.stat().st_size]
    with JsonlTraceStore.open(trace, read_only=True) as store:
        records = list(store.records())
        assert store.faults == ()
    state = reduce_all(records)
    results = [r.event.message.tool_call_id for r in records if isinstance(r.event, MessageAdded)]
    answered = [call_id for call_id in results if call_id is not None]
    assert len(answered) == len(set(answered))
    assert (state.status, dict(state.open_calls)) == ("done", {}), (state.reason, state.last_error)
    return {record.seq for record in records}


async def kill_and_resume(root: Path, places: list[int]) -> None:
    acknowledged: list[int] = []
    async with WireServer(next_step) as server:
        for place in [*places, NEVER]:
            mission = None if has_records(root) else "append one line"
            code, seen = await killed_run(root, server.openai_url, place, mission)
            acknowledged += seen
            if code == 0:
                break
        assert server.violations == [], server.violations
    assert set(acknowledged) <= numbers_of_the_finished_trace(root)
    assert (root / "log.txt").read_text() == "begin\nline\nend\n"
    assert (root / "new.txt").read_text() == "new\n"


@pytest.mark.slow
@pytest.mark.timeout(400)
@settings(settings.get_profile("processes"), max_examples=4)
@given(places=st.lists(st.integers(1, N_PLACES), min_size=1, max_size=3))
def test_a_run_that_is_killed_anywhere_finishes_after_a_resume(places: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(kill_and_resume(make_tree(Path(folder) / "tree"), places))


async def test_a_run_killed_inside_a_command_stops_what_is_left_and_finishes(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "tree")
    script = by_history(
        WireReply("", (WireCall("bash", {"command": "echo begun; touch begun; sleep 88.125"}),)),
        WireReply("Done."),
    )
    async with WireServer(script) as server:
        running = asyncio.create_task(killed_run(root, server.openai_url, NEVER, "sleep"))
        await until_exists(root / "begun")
        (pid,) = runs_in(root)
        os.kill(pid, signal.SIGKILL)
        assert (await running)[0] == -signal.SIGKILL
        code, out, err = await tori("resume", "--mode", "auto", cwd=root, url=server.openai_url)
    assert (code, out.strip()) == (0, "Done."), err
    assert "may have had effects" in server.requests[-1].results[0]
    assert "begun" in server.requests[-1].results[0]
    assert pids_of("88.125") == []


async def test_the_bug_fix_killed_at_any_time_ends_right(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "tree")
    async with WireServer(mend) as server:
        for delay_s in (1.5, 1.8, 2.1):
            mission = None if has_records(root) else "fix the failing test"
            running = asyncio.create_task(killed_run(root, server.openai_url, NEVER, mission))
            await asyncio.wait([running], timeout=delay_s)
            for pid in runs_in(root):
                os.kill(pid, signal.SIGKILL)
            await running
        mission = None if has_records(root) else "fix the failing test"
        code, _ = await killed_run(root, server.openai_url, NEVER, mission)
        assert code == 0
        assert server.violations == [], server.violations
    assert (root / "calc" / "ops.py").read_text() == FIXED


async def until_exists(path: Path) -> None:
    for _ in range(1_000):
        if path.exists():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{path} never came")
