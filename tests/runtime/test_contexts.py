from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.fakes.provider import Script, ScriptedProvider
from tests.fakes.session import MODEL, Driver, driven, reply
from tori_tui.bootstrap import SessionOptions
from tori_tui.context.agents import built_in_agents
from tori_tui.domain.commands import AnswerQuestion, SubmitPrompt, SwitchAgent
from tori_tui.domain.events import ContextChanged, QuestionAsked
from tori_tui.domain.ids import MAIN_CONTEXT, ContextId
from tori_tui.domain.request import ModelRequest

PLAN = ContextId("plan")
REVIEW = ContextId("review")
RULES = {agent.name: agent.prompt for agent in built_in_agents()}


def with_user(cwd: Path) -> SessionOptions:
    return SessionOptions(cwd=cwd, model=MODEL, mode="auto", has_user=True)


def rules_of(request: ModelRequest) -> str:
    """Return whose rules stand in a request, and that no other's do."""
    whole = "\n".join([*(block.text for block in request.system), *(m.text for m in request.messages)])
    present = [name for name, rules in RULES.items() if rules in whole]
    assert len(present) == 1, present
    return present[0]


def system_of(request: ModelRequest) -> str:
    return "\n\n".join(block.text for block in request.system)


async def answer(driver: Driver, text: str) -> str:
    question = await driver.until(QuestionAsked)
    assert isinstance(question, QuestionAsked)
    driver.session.send(AnswerQuestion(question.question_id, text))
    return question.text


async def switched(driver: Driver, name: str) -> None:
    driver.session.send(SwitchAgent(name))
    await driver.until(ContextChanged)
    while driver.session.state.agent != name:
        await driver.until(ContextChanged)


async def test_build_then_plan_then_build_are_three_identities_over_one_plan(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    turns: list[Script] = [reply(f"look {n}", read_file={"path": "a.txt", "limit": n + 1}) for n in range(50)]
    turns.append(reply("Looked at it."))
    turns += [
        reply(goal={"add": "Write the parser, Test the parser"}),
        reply("Two goals, the parser first."),
        reply("Begun.", goal={"focus": "1"}),
        reply(goal={"done": "parser.py written", "focus": "2"}),
        reply(goal={"done": "tests green"}),
        reply("All done."),
    ]
    provider = ScriptedProvider(turns)
    async with driven(provider, tmp_path, options=with_user(tmp_path)) as driver:
        await driver.run("Look around in the project")
        await switched(driver, "plan")
        driver.session.send(SubmitPrompt("Plan a parser, in the user's very words"))
        question = await answer(driver, "approve")
        assert "goal 1 Write the parser" in question
        state = await driver.until_ended()

    assert state.status == "done"
    assert [rules_of(request) for request in provider.requests] == ["build"] * 51 + ["plan"] * 2 + [
        "build"
    ] * 4
    last_build, first_plan, second_build = (provider.requests[n] for n in (50, 51, 53))
    assert len(first_plan.messages) == 1
    assert len(last_build.messages) - len(first_plan.messages) >= 100
    assert first_plan.context == PLAN
    assert {tool.name for tool in first_plan.tools}.isdisjoint({"write_file", "edit_file"})
    assert "look 3" not in "".join(message.text for message in first_plan.messages)
    assert "Two goals, the parser first." not in "".join(message.text for message in second_build.messages)
    assert second_build.messages[: len(last_build.messages)] == last_build.messages
    words = [message.text for message in second_build.messages if message.is_users_word]
    assert words == ["Look around in the project", "Plan a parser, in the user's very words"]
    assert second_build.messages[-1].text.startswith(
        "The agent plan made this plan and the user approved it."
    )
    plan = second_build.late_system or ""
    assert "1. Write the parser" in plan
    assert "2. Test the parser" in plan


async def test_a_decision_noted_in_one_context_is_told_to_the_next_and_no_more_once_it_is_forgotten(
    tmp_path: Path,
) -> None:
    provider = ScriptedProvider(
        [
            reply("Noted.", session_memory_set={"key": "decision", "value": "bcrypt, not argon2 </entry>"}),
            reply("Done."),
            reply("Planned nothing."),
            reply("Forgot it.", session_memory_set={"key": "decision"}),
            reply("Nothing to plan."),
        ]
    )
    async with driven(provider, tmp_path, options=with_user(tmp_path)) as driver:
        await driver.run("Choose a hash")
        await switched(driver, "plan")
        await driver.run("Anything to plan?")
        state = await driver.run("And forget the decision")

    assert state.memory == {}
    of_build, of_plan, after = provider.requests[1], provider.requests[2], provider.requests[4]
    assert "<session-context>" not in system_of(of_build)
    blocks = [block.name for block in of_plan.system]
    assert blocks[-1] == "session-context"
    assert '<entry key="decision">bcrypt, not argon2 &lt;/entry&gt;</entry>' in system_of(of_plan)
    assert "<session-context>" not in system_of(after)


async def test_planner_writes_by_no_tool_bash_and_checks_included(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("as it was\n")
    tries = [
        reply(write_file={"path": "new.txt", "content": "x"}),
        reply(edit_file={"path": "kept.txt", "old": "as it was", "new": "other"}),
        reply(bash={"command": "echo x > new.txt"}),
        reply(bash={"command": "touch new.txt"}),
        reply(bash={"command": "sh -c 'echo x > new.txt'", "background": True}),
        reply(bash={"command": "git init . && echo x | tee new.txt"}),
        reply(goal={"add": "Make it [check: touch new.txt]", "focus": "1"}),
        reply(goal={"done": "made"}),
        reply(goal={"abandon": "no", "restore": True}),
        reply(memory_add={"fact": "the sky is green"}),
        reply(bash={"command": "cat kept.txt"}),
        reply("I could not."),
    ]
    provider = ScriptedProvider(tries)
    async with driven(provider, tmp_path, options=with_user(tmp_path)) as driver:
        await switched(driver, "plan")
        await driver.run("Write something")
        results = [e.message for e in driver.session.state.log if e.message.role == "tool"]

    refused = [m for m in results if m.is_error]
    assert [m.name for m in refused] == ["write_file", "edit_file", *["bash"] * 4, "goal", "memory_add"]
    assert results[-1].text.startswith("as it was")
    assert sorted(p.name for p in tmp_path.iterdir()) == [".trace", "kept.txt"]
    assert (tmp_path / "kept.txt").read_text() == "as it was\n"


async def test_planner_takes_no_file_back_either(tmp_path: Path) -> None:
    provider = ScriptedProvider(
        [
            reply(goal={"add": "Write", "focus": "1"}),
            reply(write_file={"path": "a.txt", "content": "work\n"}),
            reply("Which way?"),
            reply(goal={"abandon": "wrong", "restore": True}),
            reply("Given up."),
        ]
    )
    async with driven(provider, tmp_path, options=with_user(tmp_path)) as driver:
        await driver.run("Go")
        await switched(driver, "plan")
        state = await driver.run(SubmitPrompt("Give it up", continues=True))
    assert (tmp_path / "a.txt").read_text() == "work\n"
    said = [e.message.text for e in state.log if e.message.role == "tool"][-1]
    assert said.endswith("files not restored: mode plan only reads")


async def test_goal_for_the_reviewer_runs_in_its_context_and_only_its_result_comes_back(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    provider = ScriptedProvider(
        [
            reply(goal={"add": ["Write a.py", "@review the change", "Tell the user"], "focus": "1"}),
            reply("SECRET OF BUILD", goal={"done": "a.py written", "focus": "2"}),
            reply("SECRET OF REVIEW", read_file={"path": "a.py"}),
            reply(goal={"done": "a.py:1 x is never used", "focus": "3"}),
            reply(goal={"done": "told"}),
            reply("There is one finding."),
        ]
    )
    async with driven(provider, tmp_path) as driver:
        state = await driver.run("Write and check a.py")
        contexts = [e for e in driver.events if isinstance(e, ContextChanged)]

    assert state.status == "done"
    assert [rules_of(request) for request in provider.requests] == ["build"] * 2 + ["review"] * 2 + [
        "build"
    ] * 2
    assert [(e.context, e.action, e.goal_id) for e in contexts] == [
        (REVIEW, "opened", None),
        (REVIEW, "switched", "2"),
        (MAIN_CONTEXT, "switched", None),
    ]
    texts = ["\n".join(m.text for m in request.messages) for request in provider.requests]
    assert "SECRET OF BUILD" not in texts[2]
    assert "SECRET OF BUILD" not in texts[3]
    assert "Goal 2 @review the change was given to you." in texts[2]
    assert "SECRET OF REVIEW" in texts[3]
    assert "SECRET OF REVIEW" not in texts[4] + texts[5]
    assert '<result goal="2">\na.py:1 x is never used\n</result>' in texts[4]
    assert not any(call.name == "read_file" for m in provider.requests[5].messages for call in m.tool_calls)
    assert state.active_context == MAIN_CONTEXT
    assert state.lent_to is None


async def test_change_goes_to_the_planner_and_cancel_drops_only_what_it_planned(tmp_path: Path) -> None:
    provider = ScriptedProvider(
        [
            reply(goal={"add": "Keep me", "focus": "1"}),
            reply("Which way?"),
            reply(goal={"add": "Way one"}),
            reply("One way."),
            reply(goal={"add": "Way two"}),
            reply("Two ways."),
        ]
    )
    async with driven(provider, tmp_path, options=with_user(tmp_path)) as driver:
        await driver.run("Find a way")
        await switched(driver, "plan")
        driver.session.send(SubmitPrompt("Plan it", continues=True))
        await answer(driver, "rather two of them")
        await answer(driver, "cancel")
        state = await driver.until_ended()

    assert (state.status, state.reason) == ("interrupted", "the user cancelled the plan")
    statuses = {goal.id: goal.status for goal in state.tree.walk()}
    assert statuses == {"1": "in_progress", "1.1": "abandoned", "1.2": "abandoned"}
    assert provider.requests[4].messages[-1].text == "rather two of them"
    assert state.agent == "plan"


async def test_planner_without_a_user_leaves_the_plan_for_approval(tmp_path: Path) -> None:
    provider = ScriptedProvider([reply(goal={"add": "Build it"}), reply("That is the plan.")])
    async with driven(provider, tmp_path) as driver:
        await switched(driver, "plan")
        state = await driver.run("Plan it")
    assert (state.status, state.cause) == ("incomplete", "goals_open")
    assert state.reason == "the plan waits for your approval: /agent build"


async def test_agent_narrows_the_users_mode_and_never_widens_it(tmp_path: Path) -> None:
    folder = tmp_path.parent / f"{tmp_path.name}-home" / "config" / "tori" / "agents"
    folder.mkdir(parents=True)
    (folder / "bold.md").write_text("---\nmode: auto\n---\nBe bold.\n")
    provider = ScriptedProvider([reply(bash={"command": "touch new.txt"}), reply("It was not allowed.")])
    asking = replace(with_user(tmp_path), mode="ask", has_user=False)
    async with driven(provider, tmp_path, options=asking) as driver:
        await switched(driver, "bold")
        state = await driver.run("Make a file")
    assert state.mode_in_force == "ask"
    assert not (tmp_path / "new.txt").exists()
    assert "Be bold." in system_of(provider.requests[0])
