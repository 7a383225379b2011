"""The five things that exploring must show, each to the letter."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.branches.kit import (
    READ,
    SENT_OUT,
    Cast,
    adopts,
    copies_of,
    direction_of,
    edits,
    explores,
    repository,
    results,
    rows,
    runs,
    until,
    writes,
)
from tests.e2e.commands import tori
from tests.fakes.session import MODEL, WITHOUT_CLASSIFIER, driven, reply
from tests.wire.answers import Answer, WireCall, WireReply, WireRequest
from tests.wire.server import WireServer
from tori_tui.bootstrap import SessionOptions
from tori_tui.config.settings import ExploreSettings
from tori_tui.domain.commands import DecideApproval, RewindTo, SubmitPrompt
from tori_tui.domain.events import ApprovalChanged, BranchChanged
from tori_tui.domain.ids import BranchId

# ── 1 ────────────────────────────────────────────────────────────────────────────────────


async def test_with_one_place_the_branches_run_one_after_the_other(tmp_path: Path) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    names = ["alpha", "beta", "gamma"]
    cast = Cast([explores(*names), reply("Done.")], {n: [READ, reply(f"{n} found it.")] for n in names})
    async with driven(
        cast, root, settings=replace(WITHOUT_CLASSIFIER, explore=ExploreSettings(max_parallel=1))
    ) as driver:
        await driver.run("explore")
    assert cast.most_running == 1
    changes = [e for e in driver.events if isinstance(e, BranchChanged) and e.action in ("started", "ended")]
    assert [(e.branch_id, e.action) for e in changes] == [
        (n, action) for n in ("1", "2", "3") for action in ("started", "ended")
    ]


async def test_branches_run_at_once_and_their_results_come_in_order(tmp_path: Path) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    slow = replace(READ, delay_s=0.02)
    cast = Cast(
        [explores("alpha", "beta", "gamma"), reply("Done.")],
        {"alpha": [slow, slow, reply("A.")], "beta": [slow, reply("B.")], "gamma": [reply("C.")]},
    )
    async with driven(cast, root) as driver:
        state = await driver.run("explore")
    assert cast.most_running == 3
    (report,) = results(state)
    assert [row[0] for row in rows(report)] == ["1", "2", "3"]
    assert report.index("A.") < report.index("B.") < report.index("C.")


async def test_an_inherited_view_shares_the_parents_prefix_byte_for_byte(tmp_path: Path) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a line of some length\n" * 40})
    long_read = WireReply("I read.", (WireCall("read_file", {"path": "a.txt"}),))
    plan = WireReply("", (WireCall("goal", {"add": "One, Two", "focus": "1"}),))
    asked = WireReply("", (WireCall("explore", {"branches": ["alpha", "beta"]}),))

    def answer(request: WireRequest) -> Answer:
        if direction_of(request):
            return WireReply("Found.")
        steps = (plan, long_read, asked, WireReply("", (WireCall("goal", {"done": "did it"}),)))
        last = (
            WireReply("", (WireCall("goal", {"focus": "2"}),)),
            WireReply("", (WireCall("goal", {"done": "x"}),)),
        )
        return (*steps, *last, WireReply("Done."))[len(request.results)]

    async with WireServer(answer) as server:
        code, _, err = await tori("run", "explore", "--mode", "auto", cwd=root, url=server.openai_url)
        requests = list(server.requests)
    assert code == 0, err
    bodies = [request.body for request in requests]
    first = [b for b in bodies if SENT_OUT in str(b["messages"])]
    asking = bodies[2]
    own = [m for m in asking["messages"] if m != asking["messages"][-1]]
    # A plan that stands late is renewed with each request; everything before it is the same.
    tail = asking["messages"][-1]
    prefix = own if tail["role"] == "system" else asking["messages"]
    assert len(first) == 2
    for body in first:
        assert body["tools"] == asking["tools"]
        assert body["messages"][: len(prefix)] == prefix
        sent_out = body["messages"][len(prefix)]
        assert (sent_out["role"], sent_out["content"].startswith(SENT_OUT)) == ("user", True)


# ── 2 ────────────────────────────────────────────────────────────────────────────────────

LINES = "".join(f"line {n}\n" for n in range(1, 31))


async def test_two_changes_of_one_file_are_told_apart_adopted_refused_and_undone(tmp_path: Path) -> None:
    root = repository(tmp_path / "work", {"a.txt": LINES})
    (root / "a.txt").write_text(LINES.replace("line 29\n", "uncommitted\n"))
    (root / "notes.txt").write_text("untracked\n")
    before = {p.name: p.read_bytes() for p in root.glob("*.txt")}
    git_before = {p: p.stat().st_mtime_ns for p in (root / ".git").rglob("*")}

    cast = Cast(
        [
            explores("red way", "green way", mode="implement", check="grep -q '^green' a.txt"),
            adopts("2"),
            adopts("1"),
            reply("Done."),
        ],
        {
            "red": [edits("a.txt", "line 5\n", "red\n"), *[reply("It is red.")] * 3],
            "green": [edits("a.txt", "line 5\n", "green\n"), reply("It is green.")],
        },
    )
    async with driven(cast, root) as driver:
        driver.session.send(SubmitPrompt("try both"))
        while not (
            isinstance(event := await driver.until(BranchChanged), BranchChanged) and event.action == "ended"
        ):
            assert {p.name: p.read_bytes() for p in root.glob("*.txt")} == before
        state = await driver.until_ended()
        (report,) = results(state)
        assert [row[:4] for row in rows(report)] == [
            ["1", "finished", "red", "1 file +1 −1"],
            ["2", "finished", "green", "1 file +1 −1"],
        ]
        adopted, refused = results(state, "adopt")
        assert adopted.startswith("Adopted branch 2 (+1 −1):\na.txt")
        assert refused.startswith("Nothing was changed: branch 1 conflicts")
        assert "a.txt:5\n<<<<<<< work tree\ngreen\n=======\nred\n>>>>>>> branch 1" in refused
        wanted = LINES.replace("line 29\n", "uncommitted\n").replace("line 5\n", "green\n")
        assert (root / "a.txt").read_text() == wanted
        assert {p: p.stat().st_mtime_ns for p in (root / ".git").rglob("*")} == git_before
        turn = next(m.turn for m in reversed(state.past.moments) if m.is_turn and m.turn == 2)
        driver.session.send(RewindTo(turn=turn, messages=False))
        await until(lambda: (root / "a.txt").read_bytes() == before["a.txt"])
    assert {p.name: p.read_bytes() for p in root.glob("*.txt")} == before
    assert copies_of(root) == []


# ── 3 ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("mode", ["research", "implement"])
async def test_a_killed_parent_goes_on_with_the_branches_that_had_not_ended(
    tmp_path: Path, mode: str
) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    held = asyncio.Event()
    asked: list[str] = []

    def answer(request: WireRequest) -> Answer:
        direction = direction_of(request)
        if not direction:
            if request.results:
                return WireReply("Done.")
            wanted = {"branches": ["one", "two", "three", "four"], "mode": mode}
            return WireReply("", (WireCall("explore", wanted),))
        asked.append(direction)
        is_slow = direction in ("three", "four") and not held.is_set()
        return WireReply(f"{direction} found it.", first_delay_s=30 if is_slow else 0)

    async with WireServer(answer) as server:
        environ = {**os.environ, "OPENAI_BASE_URL": server.openai_url, "OPENAI_API_KEY": "k"}
        environ |= {"TORI_MODEL": "openai-chat/m", "XDG_STATE_HOME": str(tmp_path / "state")}
        command = [sys.executable, "-m", "tori_tui", "run", "explore", "--mode", "auto"]
        process = await asyncio.create_subprocess_exec(
            *command, cwd=root, env=environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )

        def n_ended() -> int:
            traces = [p.parent for p in (root / ".trace").glob("*/messages.jsonl")]
            if not traces:
                return 0
            return (traces[0] / "messages.jsonl").read_text().count('"action":"ended"')

        await until(lambda: n_ended() == 2 and {"three", "four"} <= set(asked), 20)
        process.send_signal(signal.SIGKILL)
        await process.wait()
        copies = list((tmp_path / "state" / "tori").glob("copies/*/*"))
        assert bool(copies) == (mode == "implement")
        held.set()
        asked.clear()
        again = await asyncio.create_subprocess_exec(
            *[sys.executable, "-m", "tori_tui", "resume", "--mode", "auto"],
            cwd=root,
            env=environ,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await again.communicate()
        assert (again.returncode, out) == (0, b"Done.\n"), err.decode()
        assert sorted(asked) == ["four", "three"]
        report = server.requests[-1].results[-1]
        assert server.violations == []
    assert [row[:2] for row in rows(report)] == [[str(n), "finished"] for n in range(1, 5)]
    assert all(f"{word} found it." in report for word in ("one", "two", "three", "four"))
    assert list((tmp_path / "state" / "tori").glob("copies/*")) == []


# ── 4 ────────────────────────────────────────────────────────────────────────────────────


async def test_a_branch_cannot_explore(tmp_path: Path) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    cast = Cast(
        [explores("alpha"), explores("beta", background="All that you need."), reply("Done.")],
        {
            "alpha": [explores("further"), reply("I follow it myself.")],
            "beta": [explores("further"), reply("So do I.")],
        },
    )
    async with driven(cast, root) as driver:
        state = await driver.run("explore")
    inherited, alone = cast.requests["alpha"], cast.requests["beta"]
    assert "explore" in [tool.name for tool in inherited[0].tools]
    assert "explore" not in [tool.name for tool in alone[0].tools]
    for requests in (inherited, alone):
        (refused,) = [m.text for m in requests[1].messages if m.name == "explore" and "cannot" in m.text]
        assert refused.startswith("A branch cannot explore")
    assert alone[0].messages[0].text.startswith(SENT_OUT)
    assert len(alone[0].messages) == 1
    assert [b.state for b in state.branches.values()] == ["finished", "finished"]


async def test_of_fifty_those_under_the_cap_run_and_the_others_are_over_the_cap(tmp_path: Path) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    directions = [f"way {n} of it" for n in range(1, 51)]
    cast = Cast(
        [explores(*directions), reply("Done.")],
        {f"way {n} of": [reply(f"Answer {n}.")] for n in range(1, 9)},
    )
    async with driven(cast, root) as driver:
        state = await driver.run("explore")
    (report,) = results(state)
    table = rows(report)
    assert [row[1] for row in table] == ["finished"] * 8 + ["over the cap"] * 42
    assert [row[-1] for row in table] == directions
    assert len(state.branches) == 8


# ── 5 ────────────────────────────────────────────────────────────────────────────────────


async def test_a_branch_that_waits_for_approval_holds_no_other_and_goes_on_when_denied(
    tmp_path: Path,
) -> None:
    root = repository(tmp_path / "work", {"a.txt": "a\n"})
    cast = Cast(
        [explores("alpha", "beta", mode="implement"), reply("Done.")],
        {
            "alpha": [runs("touch made"), reply("I could not.")],
            "beta": [writes("b.txt", "b\n"), READ, READ, reply("Beta is done.")],
        },
    )
    options = SessionOptions(cwd=root, model=MODEL, mode="ask", has_user=True)
    async with driven(cast, root, options=options) as driver:
        driver.session.send(SubmitPrompt("go"))
        asked = await driver.until(ApprovalChanged)
        assert isinstance(asked, ApprovalChanged)
        assert asked.title == "[branch 1] bash touch made"
        await until(lambda: driver.session.state.branches[BranchId("2")].end is not None)
        state = driver.session.state
        assert (state.status, list(state.approvals.values())) == ("waiting", [asked])
        driver.session.send(DecideApproval(asked.approval_id, allow=False, reason="not that"))
        state = await driver.until_ended()
    assert [b.state for b in state.branches.values()] == ["finished", "finished"]
    (told,) = [m.text for m in cast.requests["alpha"][1].messages if m.name == "bash"]
    assert told == "Not run: the user did not allow it (not that)."
