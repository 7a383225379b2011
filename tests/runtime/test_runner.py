from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.processes import pids_of
from tests.fakes.provider import CutReply, ScriptedCall, ScriptedProvider, ScriptedReply
from tests.fakes.session import MODEL, driven, records_of, reply, scripted
from tori_tui.bootstrap import SessionOptions
from tori_tui.config import ContextSettings, Settings
from tori_tui.domain.commands import (
    AddComment,
    AnswerQuestion,
    ContinueRun,
    DecideApproval,
    EditPlan,
    InterruptRun,
    SubmitPrompt,
)
from tori_tui.domain.events import (
    ApprovalChanged,
    CommentRouted,
    MessageAdded,
    PlanChanged,
    QuestionAsked,
    TextStreamed,
    ToolOutputStreamed,
    ToolRunStarted,
)
from tori_tui.domain.ids import CommentId, GoalId
from tori_tui.domain.plan_edits import GoalAbandoned, GoalAdded
from tori_tui.domain.state import SessionState
from tori_tui.providers.errors import ProviderError

LOOK = {"path": "a.txt"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.txt").write_text("hello\n")
    return root


def texts(state: SessionState, role: str) -> list[str]:
    return [entry.message.text for entry in state.log if entry.message.role == role]


async def test_a_small_mission_needs_no_plan(tree: Path) -> None:
    async with driven([reply("Four.")], tree) as driver:
        state = await driver.run("2+2?")
    assert (state.status, texts(state, "assistant")) == ("done", ["Four."])
    assert state.tree.goals == ()


async def test_results_stand_in_call_order_each_once_behind_their_message(tree: Path) -> None:
    calls = tuple(
        scripted(name, arguments)
        for name, arguments in (
            ("read_file", LOOK),
            ("bash", {"command": "sleep 0.2; echo one"}),
            ("read_file", LOOK),
            ("goal", {"add": "A, B", "focus": "1"}),
            ("nonsense", {}),
        )
    )
    async with driven([ScriptedReply("", calls), reply("", goal={"done": "x"}), reply("ok")], tree) as driver:
        await driver.run("go")
        log = [entry.message for entry in driver.session.state.log]
    asked = log[1].tool_calls
    assert [message.tool_call_id for message in log[2:7]] == [call.id for call in asked]
    assert len({call.id for call in asked}) == 5
    assert "no tool 'nonsense'" in log[6].text


async def test_a_message_belongs_to_the_goal_to_which_its_calls_lead(tree: Path) -> None:
    script = [
        reply("", goal={"add": "A, B", "focus": "1"}, read_file=LOOK),
        reply("", goal={"done": "a done", "focus": "2"}, read_file=LOOK),
        reply("", goal={"done": "b done"}),
        reply("ok"),
    ]
    async with driven(script, tree) as driver:
        state = await driver.run("go")
    goals = [entry.message.goal_id for entry in state.log]
    assert goals == [None, "1", "1", "1", "2", "2", "2", None, None, None]


async def test_a_refused_goal_call_keeps_the_others_from_running_and_gives_the_message_back(
    tree: Path,
) -> None:
    script = [
        reply("", goal={"add": "A [check: false], B", "focus": "1"}),
        ScriptedReply(
            "",
            (
                scripted("read_file", LOOK),
                scripted("goal", {"done": "a", "focus": "2"}),
                scripted("read_file", LOOK),
            ),
        ),
        reply("", goal={"abandon": "check cannot be green"}),
        reply("", goal={"focus": "2"}),
        reply("", goal={"done": "b"}),
        reply("ok"),
    ]
    async with driven(script, tree) as driver:
        state = await driver.run("go")
        refusals = [e for e in driver.events if isinstance(e, PlanChanged) and e.refused]
        runs = [item for item in driver.items if isinstance(item, ToolRunStarted)]
    assert len(refusals) == 1
    assert "check is red" in str(refusals[0].refused)
    assert runs == []
    evidence = state.tree.goals[0].evidence
    assert evidence is not None
    assert evidence.exit_code == 1
    refused = [entry.message for entry in state.log if entry.seq >= (refusals[0].message_seq or 0)][:4]
    assert [message.goal_id for message in refused] == ["1", "1", "1", "1"]
    assert [message.text for message in refused[1:]][::2] == ["not run: goal refused"] * 2


async def test_a_green_check_is_kept_as_evidence(tree: Path) -> None:
    script = [
        reply("", goal={"add": "A [check: grep -q hello a.txt]", "focus": "1"}),
        reply("", goal={"done": "seen"}),
        reply("ok"),
    ]
    async with driven(script, tree) as driver:
        state = await driver.run("go")
    evidence = state.tree.goals[0].evidence
    assert evidence is not None
    assert (evidence.command, evidence.exit_code) == ("grep -q hello a.txt", 0)


async def test_open_goals_are_named_twice_and_then_the_run_ends_incomplete(tree: Path) -> None:
    script = [reply("", goal={"add": "A, B", "focus": "1"}), reply("hm"), reply("hm"), reply("hm")]
    async with driven(script, tree) as driver:
        state = await driver.run("go")
    assert (state.status, state.cause) == ("incomplete", "goals_open")
    assert sum("Goals are still open: 1 A; 2 B" in text for text in texts(state, "user")) == 2


async def test_the_missions_check_must_be_green(tree: Path) -> None:
    script = [reply("done"), reply("", bash={"command": "touch made"}), reply("now")]
    async with driven(script, tree) as driver:
        state = await driver.run(SubmitPrompt("make it", check="test -e made"))
    assert state.status == "done"
    assert any("check is red" in text for text in texts(state, "user"))


async def test_a_mission_whose_check_stays_red_is_not_done(tree: Path) -> None:
    async with driven([reply("done")] * 3, tree) as driver:
        state = await driver.run(SubmitPrompt("make it", check="false"))
    assert (state.status, state.cause) == ("incomplete", "check_red")


async def test_abort_ends_the_run_as_failed_with_its_reason(tree: Path) -> None:
    async with driven([reply("", abort={"reason": "no network"})], tree) as driver:
        state = await driver.run("go")
    assert (state.status, state.reason, state.cause) == ("failed", "no network", "abort")


async def test_a_circle_is_nudged_at_three_and_stopped_at_five(tree: Path) -> None:
    async with driven([reply("", bash={"command": "true"})] * 9, tree) as driver:
        state = await driver.run("go")
    assert (state.status, state.cause, state.n_turns) == ("limit", "loop", 5)
    assert sum("same bash call 3 times" in text for text in texts(state, "user")) == 1


async def test_the_turn_limit_ends_a_run_and_the_next_run_has_its_own(tree: Path) -> None:
    script = [reply("", bash={"command": f"echo {n}"}) for n in range(9)]
    options = SessionOptions(cwd=tree, model=MODEL, mode="auto", max_turns=2)
    async with driven(script, tree, options=options) as driver:
        first = await driver.run("go")
        second = await driver.run(ContinueRun())
    assert (first.status, first.n_turns) == ("limit", 2)
    assert (second.status, second.n_turns) == ("limit", 4)


async def test_broken_arguments_are_answered_and_the_run_goes_on(tree: Path) -> None:
    broken = ScriptedReply("", (ScriptedCall("read_file", '{"path": "a.txt'),))
    async with driven([broken, reply("ok")], tree) as driver:
        state = await driver.run("go")
    assert state.status == "done"
    assert "not one JSON object" in texts(state, "tool")[0]


async def test_a_provider_that_fails_ends_the_run_and_keeps_what_was_said(tree: Path) -> None:
    error = ProviderError("401 for the key", "Set OPENAI_API_KEY.", fault="auth", status=401)
    async with driven([CutReply(reply("half an answer that was"), 2, error)], tree) as driver:
        state = await driver.run("go")
    assert (state.status, state.cause) == ("failed", "provider")
    assert state.last_error is not None
    assert state.last_error.status == 401
    interrupted = [e.message for e in state.log if e.message.interrupted]
    assert [m.text for m in interrupted] == ["half an answer t"]
    assert all(not entry.message.interrupted for entry in state.view(state.active_context).entries)


async def test_an_interrupt_in_mid_stream_keeps_the_text_outside_the_view(tree: Path) -> None:
    slow = ScriptedReply("word " * 200, delay_s=0.01)
    async with driven([slow, reply("fine")], tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        await driver.until(TextStreamed)
        state = await driver.run(InterruptRun())
        assert (state.status, state.cause) == ("interrupted", "user")
        after = await driver.run("again")
    assert after.status == "done"
    assert [e.message.interrupted for e in after.log] == [False, True, False, False]


async def test_an_interrupt_in_a_command_answers_every_call_and_leaves_no_process(tree: Path) -> None:
    both = ScriptedReply(
        "",
        (
            scripted("read_file", LOOK),
            scripted("bash", {"command": r"printf '\033[32mbegun\033[0m\n'; sleep 77.25"}),
            scripted("read_file", LOOK),
        ),
    )
    provider = ScriptedProvider([both, reply("fine")])
    async with driven(provider, tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        await driver.until(ToolOutputStreamed)
        await driver.run(InterruptRun())
        state = await driver.run("again")
    results = texts(state, "tool")
    assert "hello" in results[0]
    assert results[1].startswith("Interrupted, may have had effects")
    assert results[1].endswith("Output so far:\nbegun\n")
    assert results[2].startswith("Not run: the user interrupted")
    assert pids_of("77.25", tree) == []


async def test_approvals_wait_and_a_denial_with_a_reason_goes_on(tree: Path) -> None:
    script = [
        ScriptedReply(
            "",
            (
                scripted("bash", {"command": "touch x && true"}),
                scripted("bash", {"command": "touch y && true"}),
            ),
        ),
        reply("ok"),
    ]
    options = SessionOptions(cwd=tree, model=MODEL, mode="ask", has_user=True)
    async with driven(script, tree, options=options) as driver:
        driver.session.send(SubmitPrompt("go"))
        first = await driver.until(ApprovalChanged)
        assert isinstance(first, ApprovalChanged)
        assert "touch x && true" in first.detail
        driver.session.send(DecideApproval(first.approval_id, allow=False, reason="not that one"))
        await driver.until(ApprovalChanged)
        second = await driver.until(ApprovalChanged)
        assert isinstance(second, ApprovalChanged)
        driver.session.send(DecideApproval(second.approval_id, allow=True))
        state = await driver.until_ended()
    assert state.status == "done"
    assert "not that one" in texts(state, "tool")[0]
    assert (not (tree / "x").exists(), (tree / "y").exists()) == (True, True)


async def test_without_a_user_what_must_be_asked_is_denied_and_listed(tree: Path) -> None:
    script = [reply("", write_file={"path": "b.txt", "content": "x"}), reply("ok")]
    options = SessionOptions(cwd=tree, model=MODEL, mode="ask")
    async with driven(script, tree, options=options) as driver:
        state = await driver.run("go")
    assert [denial.tool for denial in state.denials] == ["write_file"]
    assert not (tree / "b.txt").exists()


async def test_a_question_waits_for_its_answer(tree: Path) -> None:
    script = [reply("", ask_user={"question": "Which one?", "options": ["a", "b"]}), reply("ok")]
    options = SessionOptions(cwd=tree, model=MODEL, mode="auto", has_user=True)
    async with driven(script, tree, options=options) as driver:
        driver.session.send(SubmitPrompt("go"))
        question = await driver.until(QuestionAsked)
        assert isinstance(question, QuestionAsked)
        assert driver.session.state.status == "waiting"
        driver.session.send(AnswerQuestion(question.question_id, "b"))
        state = await driver.until_ended()
    assert texts(state, "tool") == ["The user's answer: b"]


async def test_a_comment_joins_the_next_request_exactly_once(tree: Path) -> None:
    provider = ScriptedProvider(
        [reply("", bash={"command": "sleep 0.3"}), reply("", bash={"command": "echo"}), reply("ok")]
    )
    async with driven(provider, tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        await driver.until(ToolRunStarted)
        driver.session.send(AddComment(CommentId("c1"), "mind the gap"))
        state = await driver.until_ended()
        routed = [e for e in driver.events if isinstance(e, CommentRouted)]
    assert len(routed) == 1
    assert not state.comments
    for request in provider.requests[1:]:
        assert [m.text for m in request.messages].count("mind the gap") == 1
    roles = [m.role for m in provider.requests[1].messages]
    assert roles == ["user", "assistant", "tool", "user"]


async def test_an_answer_to_a_comment_with_goals_open_goes_on_uncounted(tree: Path) -> None:
    script = [
        reply("", goal={"add": "A, B", "focus": "1"}, bash={"command": "sleep 0.3"}),
        reply("Because it is so."),
        reply("hm"),
        reply("hm"),
        reply("hm"),
    ]
    async with driven(script, tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        await driver.until(ToolRunStarted)
        driver.session.send(AddComment(CommentId("c1"), "why?"))
        state = await driver.until_ended()
    assert (state.status, state.n_turns) == ("incomplete", 5)


async def test_with_profile_now_a_done_goal_folds_at_once_and_its_summary_stands(tree: Path) -> None:
    provider = ScriptedProvider(
        [
            reply("", goal={"add": "A, B", "focus": "1"}, read_file=LOOK),
            reply("", goal={"done": "read a.txt: hello", "focus": "2"}),
            reply("", goal={"done": "b"}),
            reply("ok"),
        ]
    )
    settings = Settings(context=ContextSettings(profile="now"))
    async with driven(provider, tree, settings=settings) as driver:
        await driver.run("go")
    shown = [m.text for m in provider.requests[2].messages]
    assert shown[0] == "go"
    assert "read a.txt: hello" in shown[1]
    assert not any("1\thello" in text for text in shown)


async def test_a_second_prompt_opens_the_next_mission_with_ids_that_go_on(tree: Path) -> None:
    script = [
        reply("", goal={"add": "A", "focus": "1"}),
        reply("", goal={"done": "a"}),
        reply("one"),
        reply("", goal={"add": "B", "focus": "2"}),
        reply("", goal={"done": "b"}),
        reply("two"),
    ]
    async with driven(script, tree) as driver:
        await driver.run("first")
        state = await driver.run("second")
    assert [mission.text for mission in state.tree.missions] == ["first", "second"]
    assert [mission.goal_ids for mission in state.tree.missions] == [("1",), ("2",)]
    assert records_of(driver.session.directory)[-1].seq == state.next_seq - 1


async def test_the_plan_is_late_and_current_in_every_request(tree: Path) -> None:
    provider = ScriptedProvider(
        [reply("", goal={"add": "A", "focus": "1"}), reply("", goal={"done": "a"}), reply("ok")]
    )
    async with driven(provider, tree) as driver:
        await driver.run("go")
        added = [e for e in driver.events if isinstance(e, MessageAdded)]
    plans = [request.late_system or "" for request in provider.requests]
    assert "**Mission**: go" in plans[0]
    assert "[→] 1. A  ← current" in plans[1]
    assert "[✓] 1. A" in plans[2]
    assert not any("## Current Plan" in event.message.text for event in added)


async def test_an_interrupt_that_comes_before_the_first_step_is_not_lost(tree: Path) -> None:
    async with driven([reply("never")], tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        driver.session.send(InterruptRun())
        state = await driver.until_ended()
        assert state.status == "interrupted"
        again = await driver.run(ContinueRun())
    assert again.status == "done"


async def test_a_check_can_be_given_when_a_mission_goes_on(tree: Path) -> None:
    script = [
        reply("", abort={"reason": "later"}),
        reply("done"),
        reply("", bash={"command": "touch made"}),
        reply("now"),
    ]
    async with driven(script, tree) as driver:
        await driver.run("go")
        state = await driver.run(ContinueRun(check="test -e made"))
    assert state.status == "done"
    mission = state.tree.current_mission
    assert mission is not None
    assert mission.check == "test -e made"


async def test_a_run_stops_when_its_time_is_up_whatever_is_at_work(tree: Path) -> None:
    script = [reply("", bash={"command": "echo begun; sleep 47.5"})]
    options = SessionOptions(cwd=tree, model=MODEL, mode="auto", max_seconds=1)
    async with driven(script, tree, options=options) as driver:
        state = await driver.run("go")
    assert (state.status, state.cause) == ("limit", "limit")
    assert "time of the run was up" in texts(state, "tool")[0]
    assert pids_of("47.5", tree) == []


async def test_a_key_that_a_check_prints_is_in_no_record(tree: Path) -> None:
    key = "sk-planted-SECRETKEY-0123456789abcdef"
    (tree / "leak.txt").write_text(f"K={key}\n")
    script = [
        reply("", goal={"add": "A [check: cat leak.txt; test -e ok]", "focus": "1"}),
        reply("", goal={"done": "x"}),
        reply("", bash={"command": "touch ok"}),
        reply("", goal={"done": "x"}),
        *[reply("done")] * 3,
    ]
    async with driven(script, tree) as driver:
        await driver.run(SubmitPrompt("go", check="cat leak.txt; false"))
        directory = driver.session.directory
    for path in directory.rglob("*"):
        assert not path.is_file() or key.encode() not in path.read_bytes(), path


async def test_text_that_cannot_be_written_is_the_same_live_and_on_disk(tree: Path) -> None:
    async with driven([reply("ok"), reply("ok")], tree) as driver:
        await driver.run("hi \ud800")
        state = await driver.run(AddComment(CommentId("c1"), "and \udfff"))
    assert [mission.text for mission in state.tree.missions] == ["hi \ufffd", "and \ufffd"]


async def test_plan_edits_of_goals_that_are_not_there_change_and_say_nothing(tree: Path) -> None:
    provider = ScriptedProvider([reply("", bash={"command": "sleep 0.3"}), reply("ok")])
    async with driven(provider, tree) as driver:
        driver.session.send(SubmitPrompt("go"))
        await driver.until(ToolRunStarted)
        driver.session.send(
            EditPlan((GoalAbandoned(GoalId("7"), "x"), GoalAdded(GoalId("9.1"), GoalId("9"), "y")))
        )
        state = await driver.until_ended()
    assert state.tree.goals == ()
    assert not any("changed the plan" in message.text for message in provider.requests[1].messages)
