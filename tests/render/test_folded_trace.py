from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

from tori_tui.domain.events import (
    DurableEvent,
    MessageAdded,
    PlanChanged,
    Record,
    RunStatusChanged,
    TurnFinished,
)
from tori_tui.domain.goals import Evidence
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, MissionId, Seq
from tori_tui.domain.messages import JsonObject, Message, Origin, ToolCall
from tori_tui.domain.plan_edits import (
    GoalAbandoned,
    GoalAdded,
    GoalCompleted,
    GoalFocused,
    MissionOpened,
    PlanEdit,
)
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.domain.usage import Usage
from tori_tui.render.folded_trace import folded_trace

BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class Script:
    """Builds the records of a session, one word a step."""

    def __init__(self, mission: str) -> None:
        self.events: list[DurableEvent] = []
        self.goal_id: GoalId | None = None
        self.plan(MissionOpened(MissionId("m1"), mission))
        self.say("user", mission)

    def plan(self, *edits: PlanEdit) -> None:
        self.events.append(PlanChanged(edits, "model"))
        for edit in edits:
            if isinstance(edit, GoalFocused):
                self.goal_id = edit.id

    def say(self, role: Literal["user", "assistant"], text: str) -> None:
        origin: Origin = "user" if role == "user" else "model"
        self.events.append(MessageAdded(Message(MAIN_CONTEXT, self.goal_id, role, text, origin=origin)))

    def call(self, name: str, arguments: JsonObject, result: str = "ok", duration_s: float = 0.0) -> None:
        call_id = CallId(f"c{len(self.events)}")
        self.events.append(
            MessageAdded(
                Message(
                    MAIN_CONTEXT,
                    self.goal_id,
                    "assistant",
                    "",
                    tool_calls=(ToolCall(call_id, name, arguments),),
                )
            )
        )
        self.events.append(
            MessageAdded(
                Message(
                    MAIN_CONTEXT,
                    self.goal_id,
                    "tool",
                    result,
                    origin="tool",
                    tool_call_id=call_id,
                    name=name,
                    duration_s=duration_s,
                )
            )
        )

    def turns(self, n_turns: int, tokens: int, cost_usd: float | None) -> None:
        self.events.append(
            TurnFinished(n_turns, MAIN_CONTEXT, None, "m", "end", Usage(tokens), cost_usd=cost_usd)
        )

    @property
    def state(self) -> SessionState:
        return reduce_all(
            Record(Seq(n), BEGINNING + timedelta(seconds=n), event) for n, event in enumerate(self.events, 1)
        )


def add(goal_id: str, text: str, parent: str | None = None, replaces: str | None = None) -> GoalAdded:
    above = GoalId(parent) if parent else None
    after = GoalId(replaces) if replaces else None
    return GoalAdded(GoalId(goal_id), above, text, after_id=after, replaces=after)


def authentication() -> Script:
    script = Script("Implement user authentication")
    script.plan(add("1", "Analyse the code"), add("2", "Plan A"), add("3", "Tests"), GoalFocused(GoalId("1")))
    script.call("glob_files", {"pattern": "**/user*.py"}, duration_s=0.2)
    for number in range(4):
        script.call("read_file", {"path": f"models/{number}.py"}, duration_s=0.25)
    script.plan(GoalCompleted(GoalId("1"), "The user model is in models/user.py"), GoalFocused(GoalId("2")))
    script.call("bash", {"command": "redis-cli ping"})
    script.plan(
        GoalAbandoned(GoalId("2"), "needs Redis, which is not there"), add("2'", "Plan B", replaces="2")
    )
    script.plan(GoalFocused(GoalId("2'")))
    script.turns(14, 41_300, 0.12)
    return script


def shown(state: SessionState, *, is_unfolded: bool = False) -> str:
    return "\n".join(line.plain for line in folded_trace(state, is_unfolded=is_unfolded))


def test_a_session_is_shown_as_its_plan_with_finished_work_folded() -> None:
    assert shown(authentication().state) == (
        "Mission: Implement user authentication\n"
        "══════════════════════════════════════\n"
        "[✓] 1. Analyse the code (5 steps, 1.2s)\n"
        "    → The user model is in models/user.py\n"
        "    ┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄\n"
        '    ├─ glob_files("**/user*.py")\n'
        "    └─ 4 steps folded\n"
        "[✗] 2. Plan A (abandoned)\n"
        "    → needs Redis, which is not there\n"
        "[→] 2'. Plan B  ← current\n"
        "[ ] 3. Tests\n"
        "──────────────────────────────────────\n"
        "Progress: 1/3 goals · current 2' · 14 turns · 41k tokens · $0.12"
    )


def test_unfolded_every_step_stands_with_what_came_of_it() -> None:
    text = shown(authentication().state, is_unfolded=True)
    assert text.count("read_file(") == 4
    assert '    └─ bash("redis-cli ping")\n         ok\n' in text
    assert "folded" not in text


def test_goals_below_goals_are_indented_and_have_no_dot() -> None:
    script = Script("m")
    script.plan(add("1", "outer"), add("1.1", "inner", parent="1"), GoalFocused(GoalId("1.1")))
    assert "[→] 1. outer\n    [→] 1.1 inner  ← current\n" in shown(script.state)


def test_an_open_goal_keeps_its_latest_steps_in_sight() -> None:
    script = Script("m")
    script.plan(add("1", "work"), GoalFocused(GoalId("1")))
    for number in range(6):
        script.call("read_file", {"path": f"{number}.py"})
    assert (
        "    ├─ 3 steps folded\n"
        '    ├─ read_file("3.py")\n'
        '    ├─ read_file("4.py")\n'
        '    └─ read_file("5.py")\n'
    ) in shown(script.state)


def test_one_hidden_step_takes_no_more_room_than_its_count() -> None:
    script = Script("m")
    script.plan(add("1", "work"), GoalFocused(GoalId("1")))
    script.call("read_file", {"path": "a.py"})
    script.call("read_file", {"path": "b.py"})
    script.plan(GoalCompleted(GoalId("1"), "done"))
    assert '├─ read_file("a.py")\n    └─ read_file("b.py")\n' in shown(script.state)


def test_goal_calls_are_no_steps() -> None:
    script = Script("m")
    script.plan(add("1", "work"), GoalFocused(GoalId("1")))
    script.call("goal", {"done": "x"})
    script.plan(GoalCompleted(GoalId("1"), "done"))
    assert "(0 steps, " in shown(script.state)
    assert "goal(" not in shown(script.state)


def test_a_mission_without_goals_shows_its_steps_and_its_answer() -> None:
    script = Script("What is it?")
    script.call("read_file", {"path": "README.md"})
    script.say("assistant", "A parser.\nMore.")
    text = shown(script.state)
    assert '└─ read_file("README.md")\n→ A parser. More.\n' in text
    assert "Progress: no goals · " in text


def test_the_evidence_of_a_check_stands_below_its_goal() -> None:
    script = Script("m")
    script.plan(add("1", "work"), GoalFocused(GoalId("1")))
    script.plan(GoalCompleted(GoalId("1"), "done", Evidence("pytest -q", 0)))
    assert "    → done\n    check: pytest -q → exit 0\n" in shown(script.state)


def test_unknown_prices_are_not_shown_as_free() -> None:
    script = Script("m")
    script.turns(1, 500, None)
    assert shown(script.state).endswith("Progress: no goals · 1 turn · 500 tokens")
    script.turns(2, 500, 0.5)
    assert shown(script.state).endswith("2 turns · 1.0k tokens · ≥ $0.50")


def test_an_end_that_is_not_done_is_told() -> None:
    script = Script("m")
    script.events.append(RunStatusChanged("interrupted", "by the user", "user"))
    assert shown(script.state).endswith("interrupted")


def test_every_mission_of_a_session_has_its_own_block() -> None:
    script = Script("first")
    script.plan(add("1", "one"))
    script.plan(MissionOpened(MissionId("m2"), "second"), add("2", "two"))
    text = shown(script.state)
    assert text.index("Mission: first") < text.index("1. one") < text.index("Mission: second")
    assert text.index("Mission: second") < text.index("2. two")


def test_an_empty_trace_is_shown_too() -> None:
    assert shown(SessionState()).startswith("Mission: (none yet)\n")


def test_hostile_text_is_shown_as_text() -> None:
    script = Script("a\x1b[31mb[/red]\x9b\n")
    script.plan(add("1", "x\x1b]0;title\x07"), GoalFocused(GoalId("1")))
    script.call("bash", {"command": "printf '\x1b[2J' [/red]"}, result="\x1b[2J\ud800")
    for text in (shown(script.state), shown(script.state, is_unfolded=True)):
        assert not any(c in text for c in "\x1b\x9b\x07\ud800")
        assert "[/red]" in text
