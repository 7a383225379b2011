from __future__ import annotations

import pytest

from tests.domain.test_routing import tree
from tori_tui.domain.commands import ForgetFact, RedoRewind, RenameSession, RewindTo, SearchMemory, UndoRewind
from tori_tui.domain.goal_call import GoalRefused
from tori_tui.domain.ids import FactId, GoalId
from tori_tui.domain.plan_edits import GoalPinned
from tori_tui.ui.slash import (
    Aimed,
    Commanded,
    EffortChosen,
    ExportWanted,
    ModeChosen,
    ModelChosen,
    PlanEdited,
    PlanPageWanted,
    read_slash,
)


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("/now mind the gap", Aimed("mind the gap", "now")),
        ("/later write docs", Aimed("write docs", "later")),
        ("/retry 1", Aimed("Do goal 1 again.", "retry:1")),
        ("/retry 1 with care", Aimed("with care", "retry:1")),
        ("/replan", Aimed("Plan anew what is left.", "replan")),
        ("/replan without the web", Aimed("without the web", "replan")),
        ("/plan edit", PlanPageWanted()),
        ("/plan pin 1", PlanEdited((GoalPinned(GoalId("1"), pinned=True),))),
        ("/model openai/x", ModelChosen("openai/x")),
        ("/mode auto", ModeChosen("auto")),
        ("/effort high", EffortChosen("high")),
        ("/effort default", EffortChosen("default")),
        ("/effort", None),
        ("/export", ExportWanted("html", "")),
        ("/export md", ExportWanted("md", "")),
        ("/export svg my plan.txt", ExportWanted("svg", "my plan.txt")),
        ("/export out/my talk.md", ExportWanted("md", "out/my talk.md")),
        ("/rewind 1", Commanded(RewindTo(goal=GoalId("1")))),
        ("/rewind turn:3 files", Commanded(RewindTo(turn=3, messages=False))),
        ("/undo", Commanded(UndoRewind())),
        ("/redo", Commanded(RedoRewind())),
        ("/rename the login work", Commanded(RenameSession("the login work"))),
        ("/memory", Commanded(SearchMemory())),
        ("/memory list", Commanded(SearchMemory())),
        ("/memory login bcrypt", Commanded(SearchMemory("login bcrypt"))),
        ("/memory search forget", Commanded(SearchMemory("forget"))),
        ("/memory forget 12", Commanded(ForgetFact(FactId("12")))),
        ("/plan", None),
        ("/quit", None),
        ("/tmp/file is missing", None),
    ],
)
def test_a_slash_command_is_read(line: str, asked: object) -> None:
    assert read_slash(line, tree()) == asked


@pytest.mark.parametrize(
    "line",
    [
        "/now",
        "/retry",
        "/retry 77",
        "/rewind",
        "/rewind 99",
        "/rewind turn:x",
        "/rewind 1 all",
        "/rename",
        "/memory forget",
        "/mode fast",
        "/mode",
        "/plan nonsense",
    ],
)
def test_one_that_is_not_whole_says_what_to_write(line: str) -> None:
    with pytest.raises(GoalRefused) as refused:
        read_slash(line, tree())
    assert refused.value.hint


def test_a_model_is_chosen_from_a_list_where_none_is_named() -> None:
    assert read_slash("/model", tree()) is None
    assert read_slash("/model openai/x", tree()) == ModelChosen("openai/x")
