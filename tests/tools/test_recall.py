from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.domain.trees import called, mission
from tests.fakes.messages import assistant, call, result, state_of, user
from tests.fakes.scope import FakeScope
from tests.tools.test_goal import size_tokens
from tori_tui.context.tokens import estimate_tokens
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import PlanChanged
from tori_tui.domain.goal_call import GoalWishes, plan_goal_call
from tori_tui.domain.ids import MissionId
from tori_tui.domain.plan_edits import MissionOpened
from tori_tui.domain.state import SessionState
from tori_tui.tools.base import ToolOutput
from tori_tui.tools.recall import RecallTool


class FakeOutputs:
    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def read_text(self, name: str, limit_bytes: int | None = None) -> str:
        if name not in self._texts:
            raise ToriError(f"There is no output {name}.")
        return self._texts[name]


NUMBERED = "\n".join(f"row {n}" for n in range(1, 5_001))


def session() -> SessionState:
    tree = called(mission(), add="Read it, Fix it", focus="1")
    planned = PlanChanged(plan_goal_call(mission(), GoalWishes(add="Read it, Fix it", focus="1")), "model")
    assert tree.current_id == "1"
    return state_of(
        PlanChanged((MissionOpened(MissionId("m1"), "go"),), "user"),
        user("find the Needle please"),
        planned,
        assistant("I look", call("c1", "bash", command="grep needle"), goal="1"),
        result("c1", "bash", "hay\nhay\nthe needle is here\nhay\nhay", goal="1"),
        PlanChanged(plan_goal_call(tree, GoalWishes(done="in line 3", focus="2")), "model"),
        assistant("now fix", call("c2", "recall", query="needle"), goal="2"),
        result("c2", "recall", "#5 needle", goal="2"),
    )


async def recalled(state: SessionState | None = None, **arguments: object) -> ToolOutput:
    tool = RecallTool(FakeOutputs({"log.txt": NUMBERED, "zh.txt": "字" * 40_000}))
    return await tool.run(arguments, FakeScope(state=state or session()))


async def test_goal_comes_back_newest_first_with_record_numbers() -> None:
    text = (await recalled(goal="1")).text
    assert text.startswith("[✓] 1. Read it\n    → in line 3")
    assert text.index("#5 tool bash goal 1:") < text.index("#4 model goal 1:")
    assert 'bash({"command": "grep needle"})' in text
    assert "#2" not in text


async def test_words_are_found_in_any_case_and_recall_does_not_find_itself() -> None:
    text = (await recalled(query="NEEDLE")).text
    assert [line[:2] for line in text.splitlines() if line.startswith("#")] == ["#5", "#4", "#2"]


async def test_all_words_must_be_there_and_a_goal_narrows() -> None:
    assert "#2 user:" in (await recalled(query="please needle")).text
    assert "No record with 'please needle'" in (await recalled(goal="1", query="please needle")).text


async def test_record_number_gives_one_record_whole() -> None:
    assert (await recalled(query="#5")).text.endswith("hay\nhay\nthe needle is here\nhay\nhay")
    assert (await recalled(query="#1")).is_error


async def test_long_record_shows_the_lines_around_the_words() -> None:
    long = "\n".join(["hay"] * 3_000 + ["a needle"] + ["hay"] * 3_000)
    text = (
        await recalled(
            state_of(user("go"), assistant("", call("c", "bash")), result("c", "bash", long)), query="needle"
        )
    ).text
    assert "3001: a needle" in text
    assert len(text) < 300


async def test_result_stays_within_the_limit_and_says_what_is_left_out() -> None:
    said = [user(f"needle {n} " + "word " * 1_000) for n in range(100)]
    text = (await recalled(state_of(*said), query="needle")).text
    assert estimate_tokens(text) <= 4_000
    assert "older records left out" in text
    assert text.startswith("#100 user:")


async def test_dense_script_stays_within_the_limit() -> None:
    assert estimate_tokens((await recalled(query="outputs/zh.txt")).text) <= 4_100
    said = [user("针" + "字" * 3_000) for _ in range(20)]
    assert estimate_tokens((await recalled(state_of(*said), query="针")).text) <= 4_000


async def test_output_is_paged_by_line() -> None:
    first = (await recalled(query="outputs/log.txt")).text
    assert first.startswith("row 1\nrow 2\n")
    at = int(first.rpartition("outputs/log.txt:")[2].partition('"')[0])
    assert (await recalled(query=f"outputs/log.txt:{at}")).text.startswith(f"row {at}\n")
    assert (await recalled(query="outputs/log.txt:4999")).text == "row 4999\nrow 5000"
    assert "has 5000 lines" in (await recalled(query="outputs/log.txt:9999")).text


async def test_any_long_record_can_be_paged_through() -> None:
    state = state_of(user("BEGIN" + "x" * 30_000 + "END"))
    page, shown = await recalled(state, query="#1"), ""
    while "more lines" in page.text:
        text, _, hint = page.text.rpartition("\n")
        shown += text.removeprefix("#1 user:").replace("\n", "")
        page = await recalled(state, query=hint.partition('"')[2].partition('"')[0])
    shown += page.text.replace("\n", "")
    assert shown == "BEGIN" + "x" * 30_000 + "END"


async def test_output_is_searched_by_words() -> None:
    assert "4321: row 4321" in (await recalled(query="outputs/log.txt ROW 4321")).text
    assert "No line" in (await recalled(query="outputs/log.txt absent")).text


@pytest.mark.parametrize("query", ["outputs/none.txt", "#999"])
async def test_what_is_not_there_is_an_error(query: str) -> None:
    assert (await recalled(query=query)).is_error


async def test_unknown_goal_names_those_there_are() -> None:
    output = await recalled(goal="9")
    assert output.is_error
    assert "Root goals: 1, 2." in output.text


async def test_nothing_asked_is_an_error() -> None:
    assert (await recalled()).is_error


async def test_what_the_model_is_told_stays_short() -> None:
    assert size_tokens(RecallTool(FakeOutputs({})).spec) <= 60
    assert (await RecallTool(FakeOutputs({})).preview({"goal": "1", "query": "x"})).title == "recall 1 x"
