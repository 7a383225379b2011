from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.fakes.provider import ScriptedProvider
from tests.fakes.session import Driver, driven, reply
from tests.runtime.test_contexts import PLAN, REVIEW, answer, rules_of, switched, system_of, with_user
from tori_tui.config import ContextSettings, FeedbackSettings, Settings
from tori_tui.config.project_memory import project_memory
from tori_tui.domain.commands import (
    CloseContext,
    ContinueRun,
    InterruptRun,
    Remember,
    RewindTo,
    SubmitPrompt,
    SwitchAgent,
    SwitchMode,
    SwitchModel,
    UndoRewind,
)
from tori_tui.domain.events import (
    ContextChanged,
    MemoryChanged,
    MessagesFolded,
    NoticeShown,
    RequestStarted,
    Rewound,
    TurnFinished,
)
from tori_tui.domain.goals import Goal
from tori_tui.domain.ids import MAIN_CONTEXT, GoalId
from tori_tui.memory.session_memory import SessionMemory

FOLDING_AT_ONCE = Settings(
    context=ContextSettings(profile="now"), feedback=FeedbackSettings(classifier="off")
)


async def back(driver: Driver, command: RewindTo | UndoRewind) -> None:
    driver.session.send(command)
    await driver.until(Rewound)


async def test_contexts_and_memory_are_there_after_a_restart_in_the_middle_of_a_lent_goal(
    tmp_path: Path,
) -> None:
    first = ScriptedProvider(
        [
            reply(session_memory_set={"key": "port", "value": "8080"}),
            reply(goal={"add": ["@review it", "Tell"], "focus": "1"}),
            replace(reply("never heard"), delay_s=60),
        ]
    )
    async with driven(first, tmp_path) as driver:
        driver.session.send(SubmitPrompt("Go"))
        for _ in range(3):
            await driver.until(RequestStarted)
        driver.session.send(InterruptRun())
        before = await driver.until_ended()

    second = ScriptedProvider(
        [
            reply(goal={"done": "no finding", "focus": "2"}),
            reply(goal={"done": "told"}),
            reply("Done."),
        ]
    )
    again = replace(with_user(tmp_path), resume="")
    async with driven(second, tmp_path, options=again) as driver:
        resumed = driver.session.state
        assert (resumed.active_context, resumed.lent_to, resumed.agent) == (REVIEW, "1", "review")
        assert resumed.contexts == before.contexts
        assert resumed.memory == {"port": "8080"}
        state = await driver.run(ContinueRun())

    assert state.status == "done"
    assert [rules_of(request) for request in second.requests] == ["review", "build", "build"]
    assert second.requests[0].system == first.requests[2].system
    assert second.requests[0].messages[: len(first.requests[2].messages)] == first.requests[2].messages
    assert second.requests[1].messages[: len(first.requests[1].messages)] == first.requests[1].messages
    assert '<entry key="port">8080</entry>' in system_of(second.requests[0])


async def test_rewind_takes_back_agent_messages_and_memory_and_its_undo_brings_them_again(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider(
        [
            reply(goal={"add": "One", "focus": "1"}),
            reply(goal={"done": "one"}, session_memory_set={"key": "port", "value": "8080"}),
            reply("Done."),
            reply("A plan of words only."),
            reply("Here I am."),
        ]
    )
    async with driven(provider, tmp_path, options=with_user(tmp_path)) as driver:
        await driver.run("Go")
        await switched(driver, "plan")
        await driver.run("Plan on")
        later = driver.session.state
        await back(driver, RewindTo(goal=GoalId("1")))
        state = driver.session.state
        assert (state.agent, state.active_context, state.home_context) == (
            "build",
            MAIN_CONTEXT,
            MAIN_CONTEXT,
        )
        assert state.memory == {}
        assert len(state.view(PLAN).entries) == 0
        await back(driver, UndoRewind())
        undone = driver.session.state
        assert (undone.agent, undone.memory) == ("plan", {"port": "8080"})
        assert undone.contexts == later.contexts
        assert [e.message for e in undone.view(PLAN).entries] == [e.message for e in later.view(PLAN).entries]
        await driver.run("And now?")
    assert rules_of(provider.requests[-1]) == "plan"
    assert '<entry key="port">8080</entry>' in system_of(provider.requests[-1])


async def test_fold_names_its_context_and_leaves_the_sleeping_one_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("line of the file\n" * 400)
    provider = ScriptedProvider(
        [
            reply("I am build.", read_file={"path": "a.txt"}),
            reply("Read."),
            reply(goal={"add": "Look, Think", "focus": "1"}),
            reply(read_file={"path": "a.txt"}, session_memory_set={"key": "seen", "value": "a.txt"}),
            reply(goal={"done": "looked", "focus": "2"}),
            reply("Thinking."),
            reply("Build again."),
        ]
    )
    options = replace(with_user(tmp_path), has_user=False)
    async with driven(provider, tmp_path, options=options, settings=FOLDING_AT_ONCE) as driver:
        await driver.run("Read it")
        await switched(driver, "plan")
        await driver.run("Plan")
        folds = [e for e in driver.events if isinstance(e, MessagesFolded)]
        await switched(driver, "build")
        await driver.run("Go on")

    assert [fold.context for fold in folds] == [PLAN]
    assert '<entry key="seen">a.txt</entry>' in system_of(provider.requests[5])
    of_build = [request for request in provider.requests if request.context == MAIN_CONTEXT]
    assert of_build[-1].messages[: len(of_build[-2].messages)] == of_build[-2].messages


async def test_switch_is_a_recorded_rewrite_and_takes_effect_between_two_turns(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x\n")
    provider = ScriptedProvider(
        [
            replace(reply("I look.", read_file={"path": "a.txt"}), delay_s=0.05),
            reply("Seen as a reviewer."),
        ]
    )
    async with driven(provider, tmp_path) as driver:
        driver.session.send(SubmitPrompt("Look"))
        await driver.until(RequestStarted)
        driver.session.send(SwitchAgent("review"))
        state = await driver.until_ended()
        turns = [e for e in driver.events if isinstance(e, TurnFinished)]
        kinds = [type(e).__name__ for e in driver.events]

    assert state.agent == "review"
    assert [(turn.context, turn.rewrite) for turn in turns] == [
        (MAIN_CONTEXT, None),
        (REVIEW, "context review"),
    ]
    assert kinds.index("ContextChanged") > len(kinds) - 1 - kinds[::-1].index("TurnFinished") - 12
    texts = [message.text for message in provider.requests[1].messages]
    assert texts[0] == "Look"
    assert texts[1].startswith("The user switched to you, the agent review.")
    assert not state.open_calls


async def test_words_of_the_user_in_the_memory_are_told_at_once_and_forgotten_at_once(tmp_path: Path) -> None:
    provider = ScriptedProvider([reply("One."), reply("Two."), reply("Three.")])
    async with driven(provider, tmp_path) as driver:
        await driver.run("1")
        driver.session.send(Remember("port", "8080"))
        await driver.until(MemoryChanged)
        await driver.run("2")
        driver.session.send(Remember("port", ""))
        await driver.until(MemoryChanged)
        await driver.run("3")
        turns = [e for e in driver.events if isinstance(e, TurnFinished)]
    told = ['<entry key="port">8080</entry>' in system_of(request) for request in provider.requests]
    assert told == [False, True, False]
    assert [turn.rewrite for turn in turns] == [None, "session context", "session context"]


async def test_secret_of_the_user_is_not_remembered_and_he_is_told(tmp_path: Path) -> None:
    async with driven([], tmp_path) as driver:
        driver.session.send(Remember("key", "sk-" + "a1B2c3D4" * 5))
        notice = await driver.until(NoticeShown)
        assert isinstance(notice, NoticeShown)
        assert notice.text.startswith("Not remembered.")
        assert driver.session.state.memory == {}
        driver.session.send(Remember("", "no key given"))
        await driver.until(MemoryChanged)
        assert driver.session.state.memory == {"note 1": "no key given"}


async def test_agent_writes_down_what_is_worth_keeping_before_its_context_is_closed(tmp_path: Path) -> None:
    provider = ScriptedProvider(
        [
            reply("The parser is in p.py."),
            reply("p.py has two parsers; only the second counts."),
            reply("Hm."),
        ]
    )
    async with driven(provider, tmp_path) as driver:
        await switched(driver, "review")
        await driver.run("Where is the parser?")
        driver.session.send(CloseContext("review"))
        while REVIEW in driver.session.state.contexts:
            await driver.until(ContextChanged)
        state = driver.session.state
        assert (state.agent, len(state.view(REVIEW).entries)) == ("build", 0)
        assert state.memory == {"memo:review": "p.py has two parsers; only the second counts."}
        await switched(driver, "review")
        await driver.run("And again?")
    asked, again = provider.requests[1], provider.requests[2]
    assert rules_of(asked) == "review"
    assert asked.messages[-1].text.startswith("This conversation is about to be closed.")
    assert [message.text for message in again.messages] == ["And again?"]
    assert '<entry key="memo">p.py has two parsers' in system_of(again)


async def test_model_and_mode_of_the_user_stay_his_own_beside_those_of_an_agent(tmp_path: Path) -> None:
    folder = tmp_path.parent / f"{tmp_path.name}-home" / "config" / "tori" / "agents"
    folder.mkdir(parents=True)
    (folder / "own.md").write_text("---\nmodel: openai-chat/other\nmode: edit\n---\nBe own.\n")
    async with driven([], tmp_path) as driver:
        driver.session.send(SwitchMode("auto"))
        driver.session.send(SwitchModel("openai-chat/mine"))
        await switched(driver, "own")
        state = driver.session.state
        assert (state.model_in_force, state.mode_in_force) == ("openai-chat/other", "edit")
        driver.session.send(SwitchModel("openai-chat/third"))
        driver.session.send(SwitchMode("ask"))
        await switched(driver, "build")
        state = driver.session.state
        assert (state.model_in_force, state.mode_in_force) == ("openai-chat/mine", "ask")
        await switched(driver, "own")
        assert driver.session.state.model_in_force == "openai-chat/third"


async def test_unknown_agents_are_named_and_change_nothing(tmp_path: Path) -> None:
    folder = tmp_path / ".tori" / "agents"
    folder.mkdir(parents=True)
    (folder / "deploy.md").write_text("Deploy.\n")
    provider = ScriptedProvider(
        [reply(goal={"add": "@nobody this", "focus": "1"}), reply(goal={"done": "it"}), reply("Done.")]
    )
    async with driven(provider, tmp_path) as driver:
        for name, said in (("nobody", "There is no agent 'nobody'."), ("deploy", "trust the folder")):
            driver.session.send(SwitchAgent(name))
            notice = await driver.until(NoticeShown)
            assert isinstance(notice, NoticeShown)
            assert said in notice.text
        state = await driver.run("Go")
    assert (state.status, state.agent) == ("done", "build")
    assert {rules_of(request) for request in provider.requests} == {"build"}


async def test_user_takes_a_lent_goal_back_by_switching(tmp_path: Path) -> None:
    provider = ScriptedProvider(
        [
            reply(goal={"add": "@review it", "focus": "1"}),
            replace(reply("Looking.", glob_files={"pattern": "*"}), delay_s=0.05),
            reply(goal={"done": "done by build"}),
            reply("Done."),
        ]
    )
    async with driven(provider, tmp_path) as driver:
        driver.session.send(SubmitPrompt("Go"))
        await driver.until(RequestStarted)
        await driver.until(RequestStarted)
        driver.session.send(SwitchAgent("build"))
        state = await driver.until_ended()
    assert [rules_of(request) for request in provider.requests] == ["build", "review", "build", "build"]
    goal = state.tree.find(GoalId("1"))
    assert isinstance(goal, Goal)
    assert (goal.description, goal.status) == ("it", "completed")


async def test_other_processes_see_the_memory_as_it_is_now_and_a_rewind_counts(tmp_path: Path) -> None:
    home = tmp_path.parent / f"{tmp_path.name}-home"
    provider = ScriptedProvider(
        [
            reply(session_memory_set={"key": "a", "value": "1"}),
            reply(goal={"add": "One", "focus": "1"}, session_memory_set={"key": "b", "value": "2"}),
            reply(goal={"done": "one"}),
            reply("Done."),
            reply("Yes."),
        ]
    )
    async with driven(provider, tmp_path) as driver:
        await driver.run("Go")
        store = project_memory("sqlite", tmp_path, home / "state" / "tori")
        other = SessionMemory(store, driver.session.trace_id)
        assert await other.entries() == {"a": "1", "b": "2"}
        await back(driver, RewindTo(turn=2))
        await driver.run("Again?")
        assert await other.entries() == {"a": "1"}
        driver.session.send(Remember("a", ""))
        await driver.until(MemoryChanged)
    assert await other.entries() == {}
    await store.close()


async def test_agent_keeps_its_rules_where_the_model_is_asked_for_json(tmp_path: Path) -> None:
    provider = ScriptedProvider([reply('{"action": "done", "goal_check": "no finding"}')])
    in_json = Settings(tool_protocol="json", feedback=FeedbackSettings(classifier="off"))
    async with driven(provider, tmp_path, settings=in_json) as driver:
        await switched(driver, "review")
        state = await driver.run("Look")
    assert state.status == "done"
    assert rules_of(provider.requests[0]) == "review"
    assert "## write_file" not in system_of(provider.requests[0])


async def test_offer_waits_over_a_restart(tmp_path: Path) -> None:
    provider = ScriptedProvider([reply(goal={"add": "Build it"}), reply("That is the plan.")])
    async with driven(provider, tmp_path) as driver:
        await switched(driver, "plan")
        await driver.run("Plan it")
    second = ScriptedProvider([reply(goal={"focus": "1"}), reply(goal={"done": "built"}), reply("Done.")])
    async with driven(second, tmp_path, options=replace(with_user(tmp_path), resume="")) as driver:
        driver.session.send(ContinueRun())
        await answer(driver, "approve")
        state = await driver.until_ended()
    assert state.status == "done"
    assert [rules_of(request) for request in second.requests] == ["build"] * 3
