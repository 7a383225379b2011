"""Sessions to be shown as pages, one of them with everything that may happen and hostile texts in it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tori_tui.domain.branch_events import BranchChanged
from tori_tui.domain.events import (
    ApprovalChanged,
    CommentReceived,
    CommentRouted,
    DurableEvent,
    ErrorOccurred,
    Fold,
    MessageAdded,
    MessagesFolded,
    PlanChanged,
    Record,
    Rewound,
    RunStatusChanged,
    TurnFinished,
)
from tori_tui.domain.goals import Evidence
from tori_tui.domain.ids import (
    MAIN_CONTEXT,
    ApprovalId,
    BranchId,
    CallId,
    CommentId,
    GoalId,
    MissionId,
    Seq,
)
from tori_tui.domain.messages import Content, ContentPart, JsonObject, Message, ToolCall
from tori_tui.domain.plan_edits import (
    GoalAbandoned,
    GoalAdded,
    GoalCompleted,
    GoalFocused,
    MissionOpened,
    PlanEdit,
)
from tori_tui.domain.usage import Usage
from tori_tui.render.page.account import account_of
from tori_tui.render.page.entries import Account

BEGINNING = datetime(2026, 1, 1, 9, tzinfo=UTC)

DIFF = "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n import os\n-old = '<b>'\n+new = '</script>'\n"

HOSTILE = (
    "</script><script>alert(1)</script><img src=x onerror=alert(2)> \x1b[31mred\x1b[0m \u202eabc &#x202e;"
)

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="


class Told:
    """Builds the records of a session, one word a step."""

    def __init__(self, mission: str) -> None:
        self.events: list[DurableEvent] = [RunStatusChanged("running", model="anthropic/claude", cwd="/src")]
        self.goal_id: GoalId | None = None
        self.plan(MissionOpened(MissionId("m1"), mission))
        self.user(mission)

    def plan(self, *edits: PlanEdit) -> None:
        self.events.append(PlanChanged(edits, "model"))
        for edit in edits:
            if isinstance(edit, GoalFocused):
                self.goal_id = edit.id

    def user(self, text: Content) -> None:
        self.events.append(MessageAdded(Message(MAIN_CONTEXT, self.goal_id, "user", text, origin="user")))

    def model(self, text: str, thinking: str = "") -> None:
        said = Message(MAIN_CONTEXT, self.goal_id, "assistant", text, thinking=thinking)
        self.events.append(MessageAdded(said))

    def ask(self, name: str, arguments: JsonObject) -> CallId:
        call = ToolCall(CallId(f"c{len(self.events)}"), name, arguments)
        said = Message(MAIN_CONTEXT, self.goal_id, "assistant", "", tool_calls=(call,))
        self.events.append(MessageAdded(said))
        return call.id

    def answer(
        self,
        call_id: CallId,
        name: str,
        result: str,
        details: JsonObject | None = None,
        *,
        is_error: bool = False,
    ) -> None:
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
                    duration_s=1.5,
                    details=details or {},
                    is_error=is_error,
                )
            )
        )

    def call(self, name: str, arguments: JsonObject, result: str, details: JsonObject | None = None) -> None:
        self.answer(self.ask(name, arguments), name, result, details)

    @property
    def next_seq(self) -> Seq:
        return Seq(len(self.events) + 1)

    @property
    def records(self) -> list[Record]:
        return [
            Record(Seq(number), BEGINNING + timedelta(seconds=number), event)
            for number, event in enumerate(self.events, 1)
        ]


def goal(goal_id: str, text: str, parent: str | None = None, replaces: str | None = None) -> GoalAdded:
    after = GoalId(replaces) if replaces else None
    above = GoalId(parent) if parent else None
    return GoalAdded(GoalId(goal_id), above, text, after_id=after, replaces=after)


def branch_account() -> Account:
    told = Told("Try a queue")
    told.model("The queue is **slower**.")
    return account_of("b1", told.records)


def everything() -> Account:
    """Return a session in which everything happens once."""
    told = Told("Mend the 登录 page")
    told.plan(goal("1", "Look <around>"), goal("2", "Change it"), GoalFocused(GoalId("1")))
    told.model("I look first.\n\n```python\ndef look():\n    return 1\n```", thinking="Where to begin?")
    told.call("read_file", {"path": "app.py"}, "1\timport os\n2\tneedle in the file\n")
    told.call("bash", {"command": "pytest -q"}, HOSTILE, {"exit_code": 1})
    evidence = Evidence("pytest -q", 0, "5 passed")
    told.plan(GoalCompleted(GoalId("1"), "It is in app.py", evidence), GoalFocused(GoalId("2")))
    told.call("edit_file", {"path": "app.py"}, "Edited.", {"diff": DIFF})
    told.events.append(CommentReceived(CommentId("k1"), "use 中文 labels"))
    told.events.append(CommentRouted(CommentId("k1"), "current", "user", goal_ids=(GoalId("2"),)))
    asked = told.ask("bash", {"command": "rm -rf build"})
    question = ApprovalId("a1")
    told.events.append(ApprovalChanged(question, asked, "bash", "bash rm -rf build", "asked"))
    told.events.append(
        ApprovalChanged(question, asked, "bash", "bash rm -rf build", "denied", reason="keep it")
    )
    told.answer(asked, "bash", "The user denied it: keep it", is_error=True)
    before = Seq(told.next_seq - 1)
    told.model("A wrong way.")
    told.events.append(Rewound(before, title="goal 2"))
    explore = told.ask("explore", {"directions": ["Try a queue"]})
    told.events.append(
        BranchChanged(BranchId("1"), explore, "planned", GoalId("2"), "Try a queue", "research")
    )
    told.events.append(BranchChanged(BranchId("1"), explore, "started", trace="b1"))
    told.events.append(
        BranchChanged(BranchId("1"), explore, "ended", outcome="finished", conclusion="The queue is slower.")
    )
    told.answer(explore, "explore", "| branch | outcome |\n|---|---|\n| 1 | finished |")
    told.user((ContentPart("text", "Like this:"), ContentPart("image", media_type="image/png", data=PIXEL)))
    told.events.append(MessagesFolded(MAIN_CONTEXT, "batch", (Fold((Seq(4), Seq(5)), "Looked around."),)))
    told.events.append(ErrorOccurred("provider", "The server is busy.", "Try again later."))
    told.plan(
        GoalAbandoned(GoalId("2"), "needs Redis"),
        goal("2'", "Without Redis", replaces="2"),
        GoalFocused(GoalId("2'")),
    )
    told.model(
        "![spy](http://evil.example/x.png) [go](https://example.com/?a=1&b=2) [no](javascript:alert(1))\n\n"
        + HOSTILE
    )
    told.events.append(
        TurnFinished(1, MAIN_CONTEXT, None, "anthropic/claude", "end", Usage(41_000, 300), cost_usd=0.12)
    )
    told.events.append(RunStatusChanged("interrupted", "by the user"))
    return account_of("20260101-090000-a3f9", told.records, {BranchId("1"): branch_account()})


def long_session(n_messages: int) -> Account:
    """Return a session of many messages: goals of forty each, half of it calls with output."""
    told = Told("A long session")
    n_goals = n_messages // 40
    told.plan(*(goal(str(number), f"Part {number}") for number in range(1, n_goals + 1)))
    for number in range(1, n_goals + 1):
        told.plan(GoalFocused(GoalId(str(number))))
        for step in range(13):
            told.model(
                f"Step {step} of part {number}: I look at `file_{step}.py`, then **change** it.\n\n- a\n- b"
            )
            told.call("bash", {"command": f"pytest -q tests/test_{step}.py"}, "line of output\n" * 30)
        told.plan(GoalCompleted(GoalId(str(number)), f"Part {number} is done"))
    return account_of("long", told.records)


__all__ = ["BEGINNING", "DIFF", "HOSTILE", "Told", "everything", "goal", "long_session"]
