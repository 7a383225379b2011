from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.fakes.provider import ScriptedReply
from tests.fakes.session import LIMIT_S, MODEL, Driver, driven, records_of, reply, scripted
from tests.workspace.going_back_kit import Content, content_of, git_traces, git_tree, plain_tree
from tori_tui.bootstrap import SessionOptions
from tori_tui.domain.commands import (
    AnswerQuestion,
    ContinueRun,
    RedoRewind,
    RenameSession,
    RewindTo,
    SubmitPrompt,
    UndoRewind,
)
from tori_tui.domain.events import (
    CheckpointSaved,
    NoticeShown,
    QuestionAsked,
    Rewound,
    RunStatusChanged,
    SessionNamed,
    ToolRunStarted,
)
from tori_tui.domain.ids import GoalId, QuestionId

KINDS = pytest.mark.parametrize("make", [plain_tree, git_tree], ids=["plain", "git"])
Make = Callable[[Path], Path]

SHELL = (
    "printf 'shell\\r\\n' > a.txt; mkdir -p made/deep; echo new > made/deep/f; chmod -x run.sh; "
    "mv 'no newline' moved; rm blob.dat; ln -sf run.sh link; echo built > build/out.o"
)

THREE_GOALS = [
    reply("", goal={"add": "A, B, C", "focus": "1"}, bash={"command": "echo one > one.txt"}),
    reply("", goal={"done": "a done", "focus": "2"}, bash={"command": SHELL}),
    reply("", goal={"done": "b done", "focus": "3"}, write_file={"path": "three.txt", "content": "3\n"}),
    reply("", goal={"done": "c done"}),
    reply("all done"),
]


async def back(driver: Driver, command: RewindTo | UndoRewind | RedoRewind) -> Rewound:
    driver.session.send(command)
    event = await driver.until(Rewound)
    assert isinstance(event, Rewound)
    # What follows it (the tree saved anew, a word to the model) ends before the next command is taken.
    driver.session.send(AnswerQuestion(QuestionId("none"), ""))
    await driver.until(NoticeShown)
    return event


async def until_exists(path: Path) -> None:
    for _ in range(int(LIMIT_S / 0.01)):
        if path.exists():
            return
        await asyncio.sleep(0.01)
    raise TimeoutError(path)


def without_build(content: Content) -> Content:
    return {path: value for path, value in content.items() if not path.startswith("build")}


@KINDS
async def test_three_goals_rewind_to_the_second_undo_redo(make: Make, tmp_path: Path) -> None:
    tree = make(tmp_path / "tree")
    traces = git_traces(tree)
    start = content_of(tree)
    async with driven(THREE_GOALS, tree) as driver:
        await driver.run("three things")
        end = content_of(tree)
        await back(driver, RewindTo(GoalId("2")))
        at_second = content_of(tree)
        state = driver.session.state
        assert state.tree.current_id == "2"
        assert [goal.status for goal in state.tree.goals] == ["completed", "in_progress", "pending"]
        await back(driver, UndoRewind())
        assert content_of(tree) == end
        assert driver.session.state.tree.current_id is None
        await back(driver, RedoRewind())
        assert content_of(tree) == at_second
    assert at_second.pop("one.txt")[2] == b"one\n"
    assert without_build(at_second) == without_build(start)
    assert at_second["build/out.o"][2] == b"built\n"
    assert git_traces(tree) == traces


async def test_the_work_goes_on_from_where_it_went_back_to(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    script = [
        *THREE_GOALS,
        reply("", bash={"command": "cat one.txt; ls three.txt"}),
        reply("", goal={"done": "b again", "focus": "3"}),
        reply("", goal={"done": "c again"}),
        reply("really done"),
    ]
    async with driven(script, tree) as driver:
        await driver.run("three things")
        await back(driver, RewindTo(GoalId("2")))
        state = await driver.run(ContinueRun())
    assert state.status == "done"
    assert [goal.summary for goal in state.tree.goals] == ["a done", "b again", "c again"]
    looked = next(e.message for e in reversed(state.log) if e.message.name == "bash")
    assert "one" in looked.text
    assert "No such file" in looked.text


async def test_a_users_edit_between_two_turns_survives_a_rewind_over_both(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    script = [
        reply("", bash={"command": "echo agent > agent.txt"}),
        reply("first"),
        reply("", bash={"command": "echo over > mine.txt; rm run.sh"}),
        reply("second"),
    ]
    async with driven(script, tree) as driver:
        await driver.run("one")
        (tree / "mine.txt").write_text("the user's\n")
        await driver.run("two")
        event = await back(driver, RewindTo(turn=1))
    assert (tree / "mine.txt").read_text() == "the user's\n"
    assert (tree / "run.sh").exists()
    assert not (tree / "agent.txt").exists()
    assert event.kept == ("mine.txt",)


async def test_a_running_run_is_interrupted_first(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    script = [
        reply("", goal={"add": "A", "focus": "1"}),
        reply("", bash={"command": "echo half > half.txt; sleep 30"}),
    ]
    async with driven(script, tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        await driver.until(ToolRunStarted)
        await until_exists(tree / "half.txt")
        await back(driver, RewindTo(GoalId("1")))
        ends = [e.status for e in driver.events if isinstance(e, RunStatusChanged)]
        assert ends == ["running", "interrupted"]
    assert not (tree / "half.txt").exists()


async def test_ignored_files_that_a_tool_changed_go_back_from_the_kept_bytes(
    tmp_path: Path,
) -> None:
    tree = git_tree(tmp_path / "tree")
    calls = (
        scripted("read_file", {"path": "build/out.o"}),
        scripted("write_file", {"path": "build/out.o", "content": "written"}),
        scripted("write_file", {"path": "build/new.o", "content": "new"}),
    )
    async with driven([ScriptedReply("", calls), reply("ok")], tree) as driver:
        await driver.run("go")
        assert (tree / "build" / "new.o").exists()
        await back(driver, RewindTo(turn=1))
        assert (tree / "build" / "out.o").read_bytes() == b"built"
        assert not (tree / "build" / "new.o").exists()
        await back(driver, UndoRewind())
    assert (tree / "build" / "out.o").read_bytes() == b"written"
    assert (tree / "build" / "new.o").read_bytes() == b"new"


async def test_messages_alone_and_files_alone(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    async with driven(THREE_GOALS, tree) as driver:
        await driver.run("three things")
        await back(driver, RewindTo(GoalId("2"), messages=False))
        assert not (tree / "three.txt").exists()
        assert driver.session.state.tree.current_id is None
        last = driver.session.state.log[-1].message
        assert "took the files" in last.text
        await back(driver, UndoRewind())
        assert (tree / "three.txt").exists()
        await back(driver, RewindTo(GoalId("2"), files=False))
        assert (tree / "three.txt").exists()
        assert driver.session.state.tree.current_id == "2"


async def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    async with driven([reply("ok")], tree) as driver:
        await driver.run("go")
        for command, words in (
            (RewindTo(GoalId("7")), "Goal 7 is not in the plan"),
            (UndoRewind(), "nothing to"),
        ):
            assert isinstance(command, (RewindTo, UndoRewind))
            driver.session.send(command)
            notice = await driver.until(NoticeShown)
            assert isinstance(notice, NoticeShown)
            assert words in notice.text


async def test_checkpoints_say_when_for_which_goal_and_by_whom(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    async with driven(THREE_GOALS, tree) as driver:
        await driver.run("three things")
        saved = [e for e in driver.events if isinstance(e, CheckpointSaved)]
    assert [(e.reason, e.by, e.goal_id) for e in saved] == [
        ("start", "user", None),
        ("turn", "agent", "1"),
        ("turn", "agent", "2"),
        ("turn", "agent", "3"),
    ]


async def test_a_resumed_run_hears_what_changed_meanwhile(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    async with driven([reply("", bash={"command": "echo x > x.txt"}), reply("ok")], tree) as driver:
        await driver.run("go")
        trace = driver.session.directory.name
    (tree / "x.txt").unlink()
    (tree / "fresh.txt").write_text("fresh\n")
    options = SessionOptions(cwd=tree, model=MODEL, mode="auto", resume=trace)
    async with driven([reply("seen")], tree, options=options) as driver:
        state = await driver.run("go on")
        texts = [e.message.text for e in state.log if e.message.origin == "runner"]
        assert any("New: fresh.txt. Gone: x.txt" in text for text in texts)
        await back(driver, RewindTo(turn=1))
    assert (tree / "fresh.txt").exists()
    assert not (tree / "x.txt").exists()


async def test_a_session_has_a_name(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    async with driven([reply("ok")], tree) as driver:
        await driver.run("go")
        driver.session.send(RenameSession(" parser work "))
        await driver.until(SessionNamed)
        assert driver.session.state.name == "parser work"
    assert any(isinstance(record.event, SessionNamed) for record in records_of(driver.session.directory))


ABANDONED = [
    reply("", goal={"add": "A, B", "focus": "1"}, bash={"command": SHELL}),
    reply("", goal={"abandon": "wrong way", "add": "A2", "restore": True}),
]


async def test_abandon_with_restore_brings_the_tree_back_to_the_goals_start(tmp_path: Path) -> None:
    tree = git_tree(tmp_path / "tree")
    start = content_of(tree)
    async with driven([*ABANDONED, *[reply("hm")] * 3], tree) as driver:
        state = await driver.run("go")
    now = content_of(tree)
    assert now["build/out.o"][2] == b"built\n"
    assert without_build(now) == without_build(start)
    goal = state.tree.find(GoalId("1"))
    assert goal is not None
    assert goal.summary is not None
    assert "wrong way (restored a.txt" in goal.summary
    results = [e.message.text for e in state.log if e.message.name == "goal"]
    assert "restored a.txt" in results[1]


async def test_in_auto_nothing_is_restored_unless_the_model_asks(tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    script = [ABANDONED[0], reply("", goal={"abandon": "wrong way", "add": "A2"}), *[reply("hm")] * 3]
    async with driven(script, tree) as driver:
        await driver.run("go")
    assert (tree / "moved").exists()


@pytest.mark.parametrize(("answer", "is_restored"), [("restore", True), ("keep", False)])
async def test_the_user_is_asked_elsewhere(answer: str, is_restored: bool, tmp_path: Path) -> None:
    tree = plain_tree(tmp_path / "tree")
    options = SessionOptions(cwd=tree, model=MODEL, mode="edit", has_user=True)
    script = [
        reply("", goal={"add": "A", "focus": "1"}, write_file={"path": "new.txt", "content": "x"}),
        reply("", goal={"abandon": "wrong way"}),
        reply("ok"),
    ]
    async with driven(script, tree, options=options) as driver:
        driver.session.send(SubmitPrompt("go"))
        asked = await driver.until(QuestionAsked)
        assert isinstance(asked, QuestionAsked)
        assert "new.txt" in asked.text
        driver.session.send(AnswerQuestion(asked.question_id, answer))
        await driver.until_ended()
    assert (tree / "new.txt").exists() is not is_restored
