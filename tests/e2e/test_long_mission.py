from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.commands import tori
from tests.wire.answers import Answer, WireCall, WireRefusal, WireReply, WireRequest
from tests.wire.server import WireServer
from tori_tui.domain.events import MessagesFolded
from tori_tui.trace.store import JsonlTraceStore

N_GOALS: Final = 12
TURNS_A_GOAL: Final = 33
N_LINES: Final = 200
PEAK_TOKENS: Final = 90_000
SMALL_WINDOW_TOKENS: Final = 32_000

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]


@dataclass
class Mission:
    """The script: by how many answers it has given, whatever the history says."""

    limit_tokens: int | None = None
    n_given: int = 0
    n_refused: int = 0
    sizes: list[int] = field(default_factory=list)
    answers: list[WireReply] = field(default_factory=lambda: list(replies()))

    def __call__(self, request: WireRequest) -> Answer:
        # What the server reports as usage, too: sizes are corrected by it.
        size = request.size_tokens
        if self.limit_tokens is not None and size > self.limit_tokens:
            self.n_refused += 1
            message = f"This model's maximum context length is {self.limit_tokens} tokens."
            return WireRefusal(400, {"error": {"message": message, "code": "context_length_exceeded"}})
        self.sizes.append(size)
        self.n_given += 1
        return self.answers[self.n_given - 1]


def replies() -> Sequence[WireReply]:
    said: list[WireReply] = []
    for goal in range(1, N_GOALS + 1):
        for step in range(TURNS_A_GOAL - 1):
            calls = [WireCall("read_file", {"path": f"data/{goal}-{step}.txt"})]
            if goal == 1 and step == 0:
                names = "\n".join(f"Part {n}" for n in range(1, N_GOALS + 1))
                calls.insert(0, WireCall("goal", {"add": names, "focus": "1"}))
            said.append(WireReply(f"Part {goal}, step {step}.", tuple(calls)))
        written = WireCall("write_file", {"path": f"out/{goal}.txt", "content": f"part {goal} is written\n"})
        said.append(WireReply("Write it.", (written,)))
        wish = {"done": f"out/{goal}.txt is written."} | ({"focus": str(goal + 1)} if goal < N_GOALS else {})
        said.append(WireReply("", (WireCall("goal", wish),)))
    return [*said, WireReply("All parts are written.")]


def make_data(root: Path) -> None:
    (root / "data").mkdir(parents=True)
    for goal in range(1, N_GOALS + 1):
        for step in range(TURNS_A_GOAL - 1):
            rows = [f"part {goal} step {step} has {n * 7919}\n" for n in range(N_LINES)]
            (root / "data" / f"{goal}-{step}.txt").write_text("".join(rows), "utf-8")


def history(request: WireRequest) -> Sequence[object]:
    """The messages without a plan behind them."""
    items = list(request.items)
    return items[:-1] if items[-1].get("role") in ("system", "developer") else items


def n_breaks(requests: Sequence[WireRequest]) -> int:
    return sum(history(b)[: len(history(a))] != history(a) for a, b in pairwise(requests))


def folds(root: Path) -> list[MessagesFolded]:
    (directory,) = (path for path in (root / ".trace").iterdir() if path.is_dir())
    with JsonlTraceStore.open(directory, read_only=True) as store:
        return [r.event for r in store.records() if isinstance(r.event, MessagesFolded)]


async def run(root: Path, mission: Mission) -> WireServer:
    make_data(root)
    async with WireServer(mission) as server:
        code, out, err = await tori(
            *("run", "write the parts", "--mode", "auto", "--model", "openai-chat/m", "--max-turns", "900"),
            cwd=root,
            url=server.openai_url,
            XDG_STATE_HOME=str(root.parent / "state"),
            XDG_CONFIG_HOME=str(root.parent / "config"),
        )
    assert (code, out.strip()) == (0, "All parts are written."), err[-2_000:]
    for goal in range(1, N_GOALS + 1):
        assert (root / "out" / f"{goal}.txt").read_text() == f"part {goal} is written\n"
    assert server.violations == []
    for request in server.requests:
        assert any("write the parts" in text for text in request.user_texts)
    return server


async def test_400_turns_of_12_goals_stay_small_with_few_cache_breaks(tmp_path: Path) -> None:
    mission = Mission()
    server = await run(tmp_path / "project", mission)
    assert len(server.requests) >= 400
    print(f"peak {max(mission.sizes)} tokens, {n_breaks(server.requests)} breaks")
    assert max(mission.sizes) <= PEAK_TOKENS
    assert n_breaks(server.requests) <= 20


async def test_the_same_against_a_server_that_takes_no_more_than_32k_tokens(tmp_path: Path) -> None:
    root = tmp_path / "project"
    mission = Mission(SMALL_WINDOW_TOKENS)
    server = await run(root, mission)
    rewrites = folds(root)
    print(f"{mission.n_refused} refused, {n_breaks(server.requests)} breaks, {len(rewrites)} rewrites")
    assert mission.n_refused <= 3
    assert rewrites[0].rule == "overflow"
    assert all(rewrite.reason for rewrite in rewrites)
    assert isinstance(server.requests[-1].items[0], Mapping)
