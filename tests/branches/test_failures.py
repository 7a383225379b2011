from __future__ import annotations

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.branches.kit import (
    READ,
    Cast,
    adopts,
    copies_of,
    edits,
    explores,
    repository,
    results,
    rows,
    runs,
    until,
    writes,
)
from tests.fakes.processes import pids_of
from tests.fakes.provider import ScriptedReply
from tests.fakes.session import MODEL, WITHOUT_CLASSIFIER, driven, records_of, reply, scripted
from tori_tui.bootstrap import SessionOptions
from tori_tui.config import Settings
from tori_tui.config.settings import ExploreSettings, LimitSettings
from tori_tui.domain.commands import DecideApproval, InterruptRun, RewindTo, StopBranch, SubmitPrompt
from tori_tui.domain.events import ApprovalChanged, BranchChanged, NoticeShown
from tori_tui.domain.ids import BranchId, GoalId
from tori_tui.domain.state import reduce_all
from tori_tui.providers.errors import ProviderError
from tori_tui.workspace.copies import COPIES_NAME

DONE = reply("Done.")
SLOW = replace(READ, delay_s=0.2)
EXPLORE = ExploreSettings()


def settings(explore: ExploreSettings = EXPLORE, **limits: int) -> Settings:
    return replace(WITHOUT_CLASSIFIER, explore=explore, limits=replace(LimitSettings(), **limits))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "work", {"a.txt": "one\ntwo\n", "b.txt": "b\n"})


async def test_each_way_to_fail_gives_exactly_one_result_and_the_others_go_on(root: Path) -> None:
    down = ProviderError("The key is wrong.", fault="auth", status=401)
    cast = Cast(
        [explores("down", "crash", "endless", "silent", "aborts", "fine"), DONE],
        {
            "down": [down],
            "crash": [RuntimeError("a fault of ours")],
            "endless": [reply("I found x.", glob_files={"pattern": f"{n}*"}) for n in range(4)],
            "silent": [READ, *[ScriptedReply("")] * 3],
            "aborts": [reply("", abort={"reason": "it is nonsense"})],
            "fine": [READ, reply("All is well.")],
        },
    )
    async with driven(cast, root, settings=settings(ExploreSettings(turns=4, max_parallel=6))) as driver:
        state = await driver.run("explore")
    (report,) = results(state)
    assert [row[:2] for row in rows(report)] == [
        ["1", "failed"],
        ["2", "failed"],
        ["3", "limit"],
        ["4", "empty"],
        ["5", "failed"],
        ["6", "finished"],
    ]
    for told in ("The key is wrong.", "a fault of ours", "4 of 4 turns", "I found x.", "it is nonsense"):
        assert told in report
    assert state.status == "done"


async def test_one_branch_is_stopped_and_the_others_go_on(root: Path) -> None:
    cast = Cast(
        [explores("alpha", "beta", "gamma"), DONE],
        {"alpha": [reply("So far: x.", glob_files={"pattern": "*"}), SLOW], "beta": [READ, reply("B.")]},
    )
    async with driven(cast, root, settings=settings(ExploreSettings(max_parallel=2))) as driver:
        driver.session.send(SubmitPrompt("explore"))
        await until(lambda: len(cast.requests.get("alpha", [])) == 2)
        driver.session.send(StopBranch(BranchId("9")))
        notice = await driver.until(NoticeShown)
        driver.session.send(StopBranch(BranchId("1")))
        driver.session.send(StopBranch(BranchId("3")))
        state = await driver.until_ended()
    assert isinstance(notice, NoticeShown)
    assert "No branch 9" in notice.text
    (report,) = results(state)
    assert [row[:2] for row in rows(report)] == [
        ["1", "interrupted"],
        ["2", "finished"],
        ["3", "interrupted"],
    ]
    assert "stopped by the user" in report
    assert "So far: x." in report
    assert "it had not started" in report
    assert "gamma" not in cast.requests


async def test_an_interrupt_ends_all_with_one_result_each_and_nothing_is_left(root: Path) -> None:
    cast = Cast(
        [explores("alpha", "beta", "gamma", mode="implement")],
        {"alpha": [runs("sleep 97.25")], "beta": [writes("new.txt", "n\n"), SLOW], "gamma": [reply("G.")]},
    )
    async with driven(cast, root, settings=settings(ExploreSettings(max_parallel=3))) as driver:
        driver.session.send(SubmitPrompt("explore"))
        await until(lambda: bool(pids_of("97.25")) and len(cast.requests.get("beta", [])) == 2)
        await until(lambda: driver.session.state.branches[BranchId("3")].end is not None)
        driver.session.send(InterruptRun())
        state = await driver.until_ended()
    assert state.status == "interrupted"
    (report,) = results(state)
    assert [row[:2] for row in rows(report)] == [
        ["1", "interrupted"],
        ["2", "interrupted"],
        ["3", "finished"],
    ]
    branch = state.branches[BranchId("2")]
    assert branch.end is not None
    assert branch.end.changed_paths == ("new.txt",)
    assert pids_of("97.25") == []
    assert copies_of(root) == []
    assert [t for t in asyncio.all_tasks() if t is not asyncio.current_task()] == []
    assert not (root / "new.txt").exists()


async def test_the_limit_of_the_run_stops_its_branches(root: Path) -> None:
    cast = Cast(
        [explores("alpha", "beta"), DONE], {"alpha": [SLOW] * 9, "beta": [READ, READ, READ, SLOW, SLOW]}
    )
    async with driven(cast, root, settings=settings(tokens=500)) as driver:
        state = await driver.run("explore")
    (report,) = results(state)
    assert {row[1] for row in rows(report)} == {"limit"}
    assert "limit of the whole run: 550 of 500 tokens" in report
    assert (state.status, state.usage.total_tokens >= 500) == ("limit", True)


async def test_what_branches_use_is_counted_in_the_goal_that_sent_them(root: Path) -> None:
    plan = reply("", goal={"add": "Look, Write", "focus": "1"})
    cast = Cast(
        [
            plan,
            explores("alpha", "beta"),
            reply("", goal={"done": "ok", "focus": "2"}),
            reply("", goal={"done": "ok"}),
            DONE,
        ],
        {"alpha": [READ, reply("A.")], "beta": [reply("B.")]},
    )
    async with driven(cast, root) as driver:
        state = await driver.run("explore")
    assert state.stats_of(GoalId("1")).usage.input_tokens == 100 * (2 + 3)
    assert state.usage.input_tokens == 100 * (5 + 3)
    assert [b.goal_id for b in state.branches.values()] == ["1", "1"]


async def test_a_research_branch_changes_nothing(root: Path) -> None:
    before = {path: path.read_bytes() for path in root.glob("*.txt")}
    cast = Cast(
        [explores("alpha"), explores("beta", background="Nothing."), DONE],
        {
            "alpha": [writes("c.txt", "x"), runs("rm b.txt"), runs("cat a.txt"), reply("A.")],
            "beta": [reply("B.")],
        },
    )
    async with driven(cast, root) as driver:
        await driver.run("explore")
    told = [m.text for m in cast.requests["alpha"][-1].messages if m.name in ("write_file", "bash")]
    assert [text.startswith("Not run: mode plan only reads") for text in told] == [True, True, False]
    assert told[2].startswith("one\ntwo\n")
    assert {path: path.read_bytes() for path in root.glob("*.txt")} == before
    offered = {tool.name for tool in cast.requests["beta"][0].tools}
    assert not offered & {"write_file", "edit_file", "explore", "adopt", "ask_user"}


async def test_a_branch_with_a_copy_writes_only_there(root: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in root.glob("*.txt")}
    cast = Cast(
        [explores("alpha", mode="implement"), DONE],
        {
            "alpha": [
                writes(str(root / "a.txt"), "through the old path\n"),
                writes("../outside.txt", "x"),
                runs(f"echo x > {root}/b.txt"),
                runs("rm a.txt b.txt && rm -r .git/refs"),
                writes("only.txt", "left\n"),
                reply("I deleted everything."),
            ]
        },
    )
    async with driven(cast, root) as driver:
        state = await driver.run("explore")
    told = [m.text for m in cast.requests["alpha"][-1].messages if m.role == "tool"]
    assert told[0].startswith(("Changed a.txt", "a.txt"))
    assert "outside the work tree" in told[1]
    assert told[2].startswith("Not run: it needs approval")
    assert {path: path.read_bytes() for path in root.glob("*.txt")} == before
    assert (root / ".git").is_dir()
    assert not list(tmp_path.rglob("outside.txt"))
    end = state.branches[BranchId("1")].end
    assert end is not None
    assert end.changed_paths == ("a.txt", "b.txt", "only.txt")


async def test_an_adopted_deletion_of_the_whole_tree_can_be_undone(root: Path) -> None:
    cast = Cast(
        [explores("alpha", mode="implement"), adopts("1"), adopts("1"), adopts("7"), DONE],
        {"alpha": [runs("rm a.txt b.txt"), reply("Gone.")]},
    )
    async with driven(cast, root) as driver:
        state = await driver.run("explore")
        assert list(root.glob("*.txt")) == []
        adopted, again, unknown = results(state, "adopt")
        assert adopted.startswith("Adopted branch 1")
        assert again == "The work tree holds the change of branch 1 already."
        assert unknown.startswith("There is no branch '7'.")
        driver.session.send(RewindTo(turn=2, messages=False))
        await until(lambda: (root / "a.txt").exists() and (root / "b.txt").exists())
    assert (root / "a.txt").read_text() == "one\ntwo\n"
    assert [e.action for e in driver.events if isinstance(e, BranchChanged)][-1] == "adopted"


async def test_a_branch_works_in_the_same_folder_of_the_tree_and_asks_for_what_it_protects(
    root: Path, tmp_path: Path
) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "c.txt").write_text("c\n")
    (tmp_path / "link").symlink_to(root)
    cwd = tmp_path / "link" / "sub"
    cast = Cast(
        [explores("alpha", mode="implement"), adopts("1"), DONE],
        {"alpha": [edits("c.txt", "c", "C"), runs("pwd && echo KEY=1 > ../.env"), reply("A.")]},
    )
    options = SessionOptions(cwd=cwd, model=MODEL, mode="auto", trace_dir=tmp_path / "traces", has_user=True)
    async with driven(cast, cwd, options=options) as driver:
        driver.session.send(SubmitPrompt("go"))
        for title in ("[branch 1] bash pwd && echo KEY=1 > ../.env", "adopt 1 (2 files +2 −1)"):
            while (asked := await driver.until(ApprovalChanged)) and isinstance(asked, ApprovalChanged):
                if asked.state == "asked":
                    break
            assert isinstance(asked, ApprovalChanged)
            assert asked.title == title
            assert ".env" in asked.reason
            driver.session.send(DecideApproval(asked.approval_id, allow=True))
        state = await driver.until_ended()
    assert results(state, "adopt")[0].startswith("Adopted branch 1")
    assert (root / "sub" / "c.txt").read_text() == "C\n"
    assert (root / ".env").read_text() == "KEY=1\n"


async def test_copies_that_would_fill_the_disk_are_not_made(root: Path) -> None:
    (root / "large.bin").write_bytes(os.urandom(3_000_000))
    cast = Cast([explores("alpha", "beta", mode="implement"), DONE])
    async with driven(cast, root, settings=settings(ExploreSettings(disk_mb=2))) as driver:
        state = await driver.run("explore")
    (report,) = results(state)
    assert [row[1] for row in rows(report)] == ["failed", "failed"]
    assert "A copy of the work tree takes 3 MB, and copies may take 2 MB." in report
    assert copies_of(root) == []


async def test_where_few_copies_fit_branches_run_one_after_the_other(root: Path) -> None:
    (root / "large.bin").write_bytes(os.urandom(3_000_000))
    names = ["alpha", "beta", "gamma"]
    cast = Cast([explores(*names, mode="implement"), DONE], {name: [SLOW, reply(name)] for name in names})
    async with driven(cast, root, settings=settings(ExploreSettings(disk_mb=7))) as driver:
        state = await driver.run("explore")
    assert cast.most_running == 2
    assert [branch.state for branch in state.branches.values()] == ["finished"] * 3


async def test_a_check_that_may_not_run_refuses_the_call(root: Path) -> None:
    cast = Cast([explores("alpha", mode="implement", check="make test"), DONE])
    options = SessionOptions(cwd=root, model=MODEL, mode="edit")
    async with driven(cast, root, options=options) as driver:
        state = await driver.run("explore")
    (told,) = results(state)
    assert told.startswith("Not run: its check `make test` may not run: it needs approval")
    assert state.branches == {}


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"branches": []}, "`branches` is empty"),
        ({"branches": ["a"], "check": "true"}, "`check` needs the mode implement"),
        ({"branches": ["a"], "mode": "both"}, "must be one of"),
    ],
)
async def test_wrong_arguments_are_answered(root: Path, call: dict[str, object], told: str) -> None:
    cast = Cast([ScriptedReply("", (scripted("explore", call),)), DONE])
    async with driven(cast, root) as driver:
        state = await driver.run("explore")
    assert told in results(state)[0]


async def test_mode_plan_has_no_implement_branches(root: Path) -> None:
    cast = Cast([explores("alpha", mode="implement"), explores("beta"), DONE], {"beta": [reply("B.")]})
    options = SessionOptions(cwd=root, model=MODEL, mode="plan")
    async with driven(cast, root, options=options) as driver:
        state = await driver.run("explore")
    refused, explored = results(state)
    assert refused.startswith("Not run: mode plan only reads")
    assert rows(explored)[0][1] == "finished"


async def test_edits_of_the_same_reply_are_in_the_copies_and_stay_the_agents(root: Path) -> None:
    calls = (*edits("a.txt", "one", "1").calls, *explores("alpha", mode="implement").calls)
    cast = Cast(
        [ScriptedReply("", calls), DONE], {"alpha": [edits("a.txt", "1\ntwo", "1\n2"), reply("Edited.")]}
    )
    async with driven(cast, root) as driver:
        state = await driver.run("explore")
    end = state.branches[BranchId("1")].end
    assert end is not None
    assert (end.added, end.removed) == (1, 1)
    assert [point.event.by for point in state.past.checkpoints][-1] == "agent"


async def test_a_branch_has_a_trace_of_its_own_that_folds_to_its_end(root: Path) -> None:
    cast = Cast([explores("alpha way"), DONE], {"alpha": [READ, reply("A.")]})
    async with driven(cast, root) as driver:
        await driver.run("explore")
        directory = driver.session.directory
    branch = reduce_all(records_of(directory / "branches" / "1"))
    assert (branch.status, branch.parent, branch.n_turns) == ("done", directory.name, 2)
    assert [mission.text for mission in branch.tree.missions] == ["alpha way"]
    assert (directory / "branches" / "1" / "goal.json").exists()


async def test_a_second_explore_counts_on_and_a_new_mission_starts_no_old_branch(root: Path) -> None:
    cast = Cast(
        [explores("alpha"), DONE, explores("beta"), DONE], {"alpha": [reply("A.")], "beta": [reply("B.")]}
    )
    async with driven(cast, root) as driver:
        await driver.run("first")
        state = await driver.run("second")
    assert [(b.id, b.mission_id) for b in state.branches.values()] == [("1", "m1"), ("2", "m2")]


def test_the_folder_of_copies_is_called_the_same_where_it_is_swept() -> None:
    from_opening = Path(__file__).parents[2] / "tori_tui" / "bootstrap" / "opening.py"
    assert f'COPIES_NAME: Final = "{COPIES_NAME}"' in from_opening.read_text()
