from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.branches.kit import direction_of, repository, rows
from tests.wire.answers import Answer, WireCall, WireReply, WireRequest
from tests.wire.server import WireServer
from tori_tui.domain.state import reduce_all
from tori_tui.trace.store import JsonlTraceStore

N_PLACES = 160
"""More than a whole run has, its branches' traces included."""

NEVER = 1_000_000
EXPLORES = WireReply("", (WireCall("explore", {"branches": ["alpha", "beta"], "mode": "implement"}),))
ADOPTS = WireReply("", (WireCall("adopt", {"branch": "2"}),))


def answer(request: WireRequest) -> Answer:
    """Explore, adopt the second branch, end; what was not applied is done again."""
    done = [text for text in request.results if not text.startswith(("Not run", "Not applied"))]
    if direction := direction_of(request):
        if not done:
            content = f"{direction}\n"
            return WireReply("", (WireCall("write_file", {"path": "new.txt", "content": content}),))
        return WireReply("Wrote it.")
    return (EXPLORES, ADOPTS, WireReply("Done."))[len(done)]


async def killed_run(root: Path, state: Path, url: str, place: int, mission: str | None) -> int:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.e2e.killable", str(place), str(root)),
        *([mission] if mission else []),
        env={
            **os.environ,
            "OPENAI_BASE_URL": url,
            "OPENAI_API_KEY": "k",
            "TORI_MODEL": "openai-chat/m",
            "XDG_STATE_HOME": str(state),
        },
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, err = await process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), err.decode()
    return process.returncode or 0


async def kill_and_resume(folder: Path, places: list[int]) -> None:
    root = repository(folder / "work", {"a.txt": "a\n"})
    (root / "mine.txt").write_text("uncommitted\n")
    async with WireServer(answer) as server:
        for place in [*places, NEVER]:
            has_begun = any(p.stat().st_size for p in (root / ".trace").glob("*/messages.jsonl"))
            mission = None if has_begun else "explore"
            if await killed_run(root, folder / "state", server.openai_url, place, mission) == 0:
                break
        assert server.violations == []
        report = next(t for r in reversed(server.requests) for t in r.results if "branch |" in t)
    assert [row[:2] for row in rows(report)] == [["1", "finished"], ["2", "finished"]]
    assert (root / "new.txt").read_text() == "beta\n"
    assert (root / "mine.txt").read_text() == "uncommitted\n"
    assert list((folder / "state" / "tori").glob("copies/*")) == []
    (trace,) = [p.parent for p in (root / ".trace").glob("*/messages.jsonl") if p.stat().st_size]
    for directory in (trace, *(trace / "branches").iterdir()):
        with JsonlTraceStore.open(directory, read_only=True) as store:
            state = reduce_all(store.records())
            assert store.faults == ()
        assert directory != trace or (state.status, dict(state.open_calls)) == ("done", {})


@pytest.mark.slow
@pytest.mark.timeout(400)
@settings(settings.get_profile("processes"), max_examples=3)
@example(places=[10])
@example(places=[65, 1])  # while the copies of the first are swept
@given(places=st.lists(st.integers(1, N_PLACES), min_size=1, max_size=2))
def test_exploring_and_adopting_killed_anywhere_end_right_after_a_resume(places: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(kill_and_resume(Path(folder), places))
