from __future__ import annotations

from dataclasses import replace

import pytest

from tests.domain.test_routing import tree
from tests.ui.apps import Stage
from tests.ui.fakes import mission, said
from tests.ui.test_session_screen import RUNNING, live, sent
from tori_tui.domain.commands import CloseContext, Remember, SwitchAgent
from tori_tui.domain.events import ContextChanged, MemoryChanged, MessageAdded
from tori_tui.domain.goal_call import GoalRefused
from tori_tui.domain.ids import MAIN_CONTEXT, ContextId, GoalId
from tori_tui.domain.messages import TOLD_AGAIN
from tori_tui.ui.slash import Commanded, MemoryWanted, read_slash
from tori_tui.ui.transcript.blocks import NoticeBlock, PromptBlock

PLAN = ContextId("plan")
AGENTS = ("build", "plan", "review", "docs")


def notices(stage: Stage) -> list[str]:
    return [block.text for _, block in stage.screen.story.blocks if isinstance(block, NoticeBlock)]


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("/agent plan", Commanded(SwitchAgent("plan"))),
        ("/agent @plan", Commanded(SwitchAgent("plan"))),
        ("/agent", Commanded(SwitchAgent(""))),
        ("/agent close review", Commanded(CloseContext("review"))),
        ("/remember", MemoryWanted()),
        ("/remember port: 8080", Commanded(Remember("port", "8080"))),
        ("/remember use http://x", Commanded(Remember("use http", "//x"))),
        ("/remember no colon", Commanded(Remember("", "no colon"))),
        (f"/remember {'x' * 61}: y", Commanded(Remember("", f"{'x' * 61}: y"))),
        ("/remember forget port", Commanded(Remember("port", ""))),
    ],
)
def test_commands_of_agents_and_memory_are_read(line: str, asked: object) -> None:
    assert read_slash(line, tree()) == asked


@pytest.mark.parametrize("line", ["/agent close", "/remember forget", "/remember port:"])
def test_one_that_is_not_whole_says_what_to_write(line: str) -> None:
    with pytest.raises(GoalRefused) as refused:
        read_slash(line, tree())
    assert refused.value.hint


async def test_tab_goes_through_the_agents_and_enter_switches() -> None:
    async with live() as (stage, pilot):
        stage.agents = AGENTS
        await pilot.press(*"/ag", "tab", "tab")
        assert stage.screen.input.text == "/agent build"
        await pilot.press(*["backspace"] * 5, "down", "tab")
        assert stage.screen.input.text == "/agent plan"
        await pilot.press("enter")
        assert sent(stage) == [SwitchAgent("plan")]
        await pilot.press("x", "tab")
        assert stage.screen.input.text == "x"


async def test_palette_switches_agents() -> None:
    async with live() as (stage, _):
        stage.agents = AGENTS
        offered = {command.title: command for command in stage.screen.commands()}
        offered["Agent review"].callback()
        offered["Agent docs"].callback()
        assert sent(stage) == [SwitchAgent("review"), SwitchAgent("docs")]


async def test_switch_is_told_and_the_status_line_names_the_agent_and_the_mode_it_is_held_to() -> None:
    lent = ContextChanged(PLAN, "switched", "plan", "openai/o", "plan", GoalId("2"))
    async with live((*RUNNING, lent)) as (stage, pilot):
        assert notices(stage) == ["agent plan · goal 2 · openai/o"]
        shown = stage.screen.status_line._status
        assert (shown.agent, shown.mode, shown.model) == ("plan", "plan", "openai/o")
        assert "@plan" in stage.screen.status_line.render_line(0).text
        stage.session.emit(ContextChanged(MAIN_CONTEXT, "switched"), ContextChanged(PLAN, "closed", "plan"))
        await pilot.pause()
        shown = stage.screen.status_line._status
        assert (shown.agent, shown.mode, shown.model) == ("", "ask", "replay/x")
        assert "@" not in stage.screen.status_line.render_line(0).text
        assert notices(stage)[-1] == "agent plan closed"


async def test_users_word_that_another_agent_is_told_again_is_shown_once() -> None:
    event = said("m")
    assert isinstance(event, MessageAdded)
    again = MessageAdded(replace(event.message, context=PLAN, details={TOLD_AGAIN: True}))
    async with live((mission("m"), event, again)) as (stage, _):
        prompts = [block for _, block in stage.screen.story.blocks if isinstance(block, PromptBlock)]
        assert len(prompts) == 1


async def test_memory_is_shown_as_text() -> None:
    noted = MemoryChanged("session", "set", "por[b]t", "80\x1b[31m80")
    async with live((noted,)) as (stage, pilot):
        await pilot.press(*"/remember", "enter")
        assert notices(stage)[-1] == "por[b]t: 80␛[31m80"
        assert sent(stage) == []
