"""A long session as tori would have recorded it: missions, goals, code, diffs, outputs, two languages, folds.

Must not be random: the same size is the same trace, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from tori_tui.domain.events import (
    CallStarted,
    CheckpointSaved,
    DurableEvent,
    FileIntent,
    Fold,
    MessageAdded,
    MessagesFolded,
    PlanChanged,
    ProcessRef,
    Record,
    RunStatusChanged,
    Section,
    TurnFinished,
)
from tori_tui.domain.ids import MAIN_CONTEXT, CallId, GoalId, MissionId, Seq
from tori_tui.domain.messages import JsonObject, Message, ToolCall
from tori_tui.domain.plan_edits import GoalAdded, GoalCompleted, GoalFocused, MissionOpened
from tori_tui.domain.usage import Usage
from tori_tui.trace.codec import encode
from tori_tui.trace.store import MESSAGES_NAME

END: Final = "Zzyzx"
"""Ends the last answer, so that its drawing can be waited for."""

BEGAN_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)

GOALS_A_MISSION: Final = 5
TURNS_A_GOAL: Final = 24
GONE_PGID: Final = 4_194_303
"""No process has had so high a number."""
SHA: Final = "b31db3c71c0591b9c350f22c5ed6682a459e9a38f817343830201abf3cc75738"

_ENGLISH: Final = (
    "The **till** hands out `total // people` to everybody, so the remainder is lost; three people who share "
    "ten pay nine. Each of the first ones pays one cent more until nothing is left over.\n\n"
    "- look at `split_bill` in till.py\n- keep the order of the people\n"
)
_CHINESE: Final = (
    "测试失败的原因是 `split_bill` 丢掉了余数：三个人分一千分钱，每人三百三十三分，加起来少一分。"
    "我把余数一分一分地分给前面的人，顺序保持不变，然后再跑一遍测试。\n\n"
    "1. 先读 `till.py`\n2. 再改 **分账** 的函数\n"
)
_CODE: Final = (
    "\n```python\ndef split_bill(total, people):\n    share, rest = divmod(total, people)\n"
    "    return [share + 1] * rest + [share] * (people - rest)\n```\n"
)


class _Writer:
    """Gives each event its number and time, and remembers what a fold will take away."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.n_messages = 0
        self.unfolded: list[Seq] = []
        self.turn = 0

    def add(self, event: DurableEvent) -> None:
        """Record an event."""
        seq = Seq(len(self.records) + 1)
        self.records.append(Record(seq, BEGAN_AT + timedelta(seconds=2 * seq), event))
        if isinstance(event, MessageAdded):
            self.n_messages += 1
            if event.message.origin != "user":
                self.unfolded.append(seq)


def long_session(n_messages: int) -> list[Record]:
    """Return the records of a session with that many messages; the last one is an answer with `END`."""
    writer = _Writer()
    writer.add(RunStatusChanged("running", model="openai-chat/m", mode="auto", cwd="/"))
    mission = 0
    while writer.n_messages < n_messages:
        mission += 1
        _mission(writer, mission, n_messages)
    writer.add(_turn_finished(writer, None))
    writer.add(MessageAdded(Message(MAIN_CONTEXT, None, "assistant", f"{_ENGLISH}{_CODE}\n{END}")))
    writer.add(RunStatusChanged("done"))
    return writer.records


def write_trace(directory: Path, n_messages: int) -> int:
    """Write such a session's trace and return its size in bytes."""
    directory.mkdir(parents=True)
    path = directory / MESSAGES_NAME
    path.write_bytes(b"".join(map(encode, long_session(n_messages))))
    return path.stat().st_size


def _mission(writer: _Writer, number: int, n_messages: int) -> None:
    text = f"Make the till of shop {number} share a bill to the cent. 第 {number} 家店也要测试。"
    writer.add(PlanChanged((MissionOpened(MissionId(f"m{number}"), text),), "user"))
    writer.add(MessageAdded(Message(MAIN_CONTEXT, None, "user", text, "user")))
    first = (number - 1) * GOALS_A_MISSION + 1
    goals = [GoalId(str(first + i)) for i in range(GOALS_A_MISSION)]
    added = (GoalAdded(goal, None, f"Part {goal}: the till of shop {number}") for goal in goals)
    writer.add(PlanChanged((*added, GoalFocused(goals[0])), "model"))
    for goal in goals:
        writer.add(PlanChanged((GoalFocused(goal),), "model"))
        for _ in range(TURNS_A_GOAL):
            if writer.n_messages >= n_messages:
                return
            for event in _turn(writer, goal):
                writer.add(event)
        writer.add(PlanChanged((GoalCompleted(goal, f"Part {goal} works, its tests are green."),), "model"))
        _fold(writer, goal)


def _fold(writer: _Writer, goal: GoalId) -> None:
    text = f'<folded goal="{goal}" status="completed">\nPart {goal}\n{_ENGLISH}</folded>'
    writer.add(MessagesFolded(MAIN_CONTEXT, "batch", (Fold(tuple(writer.unfolded), text, goal),), "batch"))
    writer.unfolded.clear()


def _turn(writer: _Writer, goal: GoalId) -> Iterator[DurableEvent]:
    finished = _turn_finished(writer, goal)
    number = writer.turn
    yield finished
    call_id = CallId(f"call_{number:08}")
    name, arguments, output, details = _work(number)
    text = (_CHINESE if number % 4 == 0 else _ENGLISH) + (_CODE if number % 5 == 0 else "")
    call = ToolCall(call_id, name, arguments)
    said = "" if number % 3 == 0 else text
    yield MessageAdded(
        Message(MAIN_CONTEXT, goal, "assistant", said, tool_calls=(call,), usage=finished.usage)
    )
    if name in ("bash", "edit_file"):
        files = (FileIntent("till.py", SHA, SHA, f"{SHA}.before"),) if name == "edit_file" else ()
        process = ProcessRef(GONE_PGID, number) if name == "bash" else None
        yield CallStarted(call_id, name, process, files)
    result = Message(
        *(MAIN_CONTEXT, goal, "tool", output, "tool"),
        tool_call_id=call_id,
        name=name,
        is_error=name == "bash" and number % 7 == 0,
        duration_s=0.4,
        details=details,
    )
    yield MessageAdded(result)
    if name == "edit_file":
        yield CheckpointSaved(SHA[:40], "turn", goal, number, "agent")


def _turn_finished(writer: _Writer, goal: GoalId | None) -> TurnFinished:
    writer.turn += 1
    usage = Usage(20_000 + writer.turn, 180, 19_000, 900)
    names = ("rules", "environment", "tools", "folds", "messages", "plan")
    sections = tuple(Section(name, 200, "" if name == "messages" else SHA) for name in names)
    return TurnFinished(
        *(writer.turn, MAIN_CONTEXT, goal, "openai-chat/m", "calls", usage, 0.01, 0.4, 2.5),
        sections=sections,
    )


def _work(number: int) -> tuple[str, JsonObject, str, JsonObject]:
    """Return a call and its result: name, arguments, output, details."""
    path = f"shop/part_{number % 97}.py"
    match number % 4:
        case 0:
            lines = (f"{n}\tdef part_{n}(total, people):  # {number * n % 1009} 分" for n in range(1, 61))
            return "read_file", {"path": path}, "\n".join(lines), {"path": path, "sha256": SHA}
        case 1:
            return "edit_file", _edit(path), f"Changed {path} (+3 −2).", _edited(path, number)
        case 2:
            tests = "\n".join(f"tests/test_{n}.py::test_share_{number * n % 1009} PASSED" for n in range(40))
            command = f"pytest -q tests/test_{number}.py"
            return "bash", {"command": command}, f"{tests}\n40 passed in 0.31s", {"exit_code": 0}
        case _:
            hits = "\n".join(f"shop/part_{n}.py:{n * 7}: split_bill(total, people)" for n in range(25))
            return "grep_files", {"pattern": "split_bill"}, hits, {"n_matches": 25, "n_files": 25}


def _edit(path: str) -> JsonObject:
    old = "    share = total // people\n    return [share] * people\n"
    return {"path": path, "old": old, "new": _CODE}


def _edited(path: str, number: int) -> JsonObject:
    diff = (
        f"--- a/{path}\n+++ b/{path}\n@@ -{number},5 +{number},6 @@\n \n def split_bill(total, people):\n"
        "-    share = total // people\n-    return [share] * people\n"
        "+    share, rest = divmod(total, people)\n+    # 余数一分一分地分\n"
        "+    return [share + 1] * rest + [share] * (people - rest)\n \n"
    )
    facts = {"path": path, "sha256": SHA, "before_sha256": SHA, "added": 3, "removed": 2}
    return {**facts, "changed_paths": [path], "diff": diff}


__all__ = ["END", "long_session", "write_trace"]
