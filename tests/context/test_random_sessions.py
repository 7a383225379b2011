"""Random sessions through the whole engine, the way the runner drives it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.messages import AT, assistant, call, result, user
from tests.wire.rules_chat import chat_violations
from tests.wire.rules_messages import messages_violations
from tests.wire.rules_responses import responses_violations
from tori_tui.context.build import BuiltRequest, build_request
from tori_tui.context.due import Sizes
from tori_tui.context.engine import ViewEngine
from tori_tui.context.marks import input_limit, marks_for
from tori_tui.context.sight import shown_parts
from tori_tui.context.system_prompt import SystemParts
from tori_tui.context.words import said_text
from tori_tui.domain.events import DurableEvent, MessageAdded, PlanChanged, Record, TurnFinished
from tori_tui.domain.goal_call import GoalRefused, GoalWishes, plan_goal_call
from tori_tui.domain.ids import MAIN_CONTEXT, MissionId
from tori_tui.domain.messages import Message
from tori_tui.domain.plan_edits import GoalPinned, MissionOpened
from tori_tui.domain.request import ModelProfile, ModelRequest
from tori_tui.domain.state import SessionState, reduce, reduce_all
from tori_tui.providers.anthropic.encode import encode_messages
from tori_tui.providers.openai.chat_encode import ChatDialect, encode_chat
from tori_tui.providers.openai.responses_encode import encode_responses
from tori_tui.trace.codec import decode, encode

WINDOW: Final = 6_000
PROFILE: Final = ModelProfile("openai-chat/m", "openai-chat", "m", "m", WINDOW, 1_000, late_system=True)
SYSTEM: Final = SystemParts("the rules", "the surroundings")
POINTER: Final = re.compile(r"unchanged since ([^\]]*)\]")

STEPS: Final = (
    *("read", "read", "read", "edit", "run", "parallel", "add", "focus", "done", "done", "abandon"),
    *("comment", "mission", "interrupt", "resume", "profile", "model", "pin", "wait", "refused"),
)


class Session:
    def __init__(self) -> None:
        self.records: list[Record] = []
        self.state = SessionState()
        self.engine = ViewEngine()
        self.profile_name = "balanced"
        self.profile = PROFILE
        self.is_cold = False
        self.n = 0
        self.files = {
            f"src/f{k}.py": [f"line {n} of file {k} = {n * k}" for n in range(90)] for k in range(4)
        }
        self.record(PlanChanged((MissionOpened(MissionId("m1"), "mission number 1"),), "user"))
        self.say("mission number 1")

    def record(self, event: DurableEvent) -> None:
        record = Record(self.state.next_seq, AT, event)
        self.records.append(record)
        self.state = reduce(self.state, record)

    def say(self, text: str, origin: str = "user") -> None:
        said = user(text, self.state.tree.current_id)
        self.record(MessageAdded(said if origin == "user" else replace(said, origin="comment")))

    def result(self, message: Message) -> None:
        self.record(MessageAdded(self.engine.at_the_door(self.state, message)))

    def turn(self, *calls: tuple[str, str, bool, str], text: str = "") -> None:
        """Each call as name, its path, whether it fails, its result."""
        self.n += 1
        goal = self.state.tree.current_id
        self.record(TurnFinished(self.n, MAIN_CONTEXT, goal, self.profile.name, "calls"))
        asked = [call(f"c{self.n}-{k}", name, path=path) for k, (name, path, _, _) in enumerate(calls)]
        self.record(MessageAdded(assistant(text or f"turn {self.n}", *asked, goal=goal)))
        for one, (name, path, fails, said) in zip(asked, calls, strict=True):
            answer = result(one.id, name, said, goal=goal, details={"path": path})
            self.result(replace(answer, is_error=fails))

    def step(self, step: str, number: int) -> None:
        path = f"src/f{number % 4}.py"
        lines = self.files[path]
        match step:
            case "read":
                self.turn(("read_file", path, False, "\n".join(lines)))
            case "edit":
                at = number % len(lines)
                lines[at] = f"changed {number} at line {at} of {path}"
                self.turn(("edit_file", path, False, f"edited {path}"))
            case "run":
                rows = [f"test_{k}_{number} {'FAILED' if k == 3 else 'passed'} in {path}" for k in range(8)]
                self.turn(("bash", "pytest -q", number % 2 == 0, "\n".join(rows)))
            case "parallel":
                other = f"src/f{(number + 1) % 4}.py"
                self.turn(
                    ("read_file", path, False, "\n".join(lines)),
                    ("read_file", "missing.py", True, f"There is no missing.py ({number})."),
                    ("read_file", other, False, "\n".join(self.files[other])),
                )
            case "comment":
                self.say(f"comment number {number}", "comment")
            case "mission":
                n = len(self.state.tree.missions) + 1
                opened = MissionOpened(MissionId(f"m{n}"), f"mission number {n}")
                self.record(PlanChanged((opened,), "user"))
                self.say(f"mission number {n}")
            case "interrupt":
                half = replace(assistant(f"half a reply {number}"), interrupted=True)
                self.record(MessageAdded(half))
            case "resume":
                again = [decode(encode(record)) for record in self.records]
                state = reduce_all(record for record in again if record is not None)
                assert state == self.state
                self.state, self.engine = state, ViewEngine()
            case "profile":
                names = ("balanced", "economy", "rich", "now", "never", "local", "small")
                self.profile_name = names[number % len(names)]
            case "model":
                self.profile = replace(PROFILE, name=f"openai-chat/m{number}", model=f"m{number}")
            case "wait":
                self.is_cold = True
            case "pin":
                if self.state.tree.current_id:
                    pinned = GoalPinned(self.state.tree.current_id, number % 2 == 0)
                    self.record(PlanChanged((pinned,), "user"))
            case _:
                self.goal_call(step, number)

    def goal_call(self, step: str, number: int) -> None:
        open_goals = self.state.tree.open_goals
        wishes = {
            "add": GoalWishes(add=f"goal A {number}, goal B {number}"),
            "focus": GoalWishes(focus=open_goals[number % len(open_goals)].id if open_goals else "99"),
            "done": GoalWishes(done=f"it works {number}"),
            "abandon": GoalWishes(abandon=f"no way {number}", add=f"another way {number}"),
            "refused": GoalWishes(focus="99"),
        }
        try:
            edits = plan_goal_call(self.state.tree, wishes[step])
        except GoalRefused as refused:
            self.turn(("goal", "", True, str(refused)))
            return
        self.turn(("goal", "", False, "ok"))
        self.record(PlanChanged(edits, "model"))

    def request(self, before: BuiltRequest | None) -> BuiltRequest:
        fixed = 200
        sizes = Sizes(
            self.profile_name,
            marks_for(self.profile_name, self.profile, WINDOW),
            input_limit(self.profile, WINDOW),
            fixed,
            self.is_cold,
        )
        self.is_cold = False
        rewrite = self.engine.due(self.state, MAIN_CONTEXT, sizes)
        if rewrite is not None:
            self.record(rewrite)
        return build_request(
            self.state,
            context=MAIN_CONTEXT,
            profile=self.profile,
            system=SYSTEM,
            placement="late",
            before=before.prefix if before else None,
        )


def violations(request: ModelRequest) -> list[str]:
    found = [*chat_violations(encode_chat(request, ChatDialect("h")))]
    found += responses_violations(encode_responses(request))
    return [*found, *messages_violations(encode_messages(request))]


def check_words(state: SessionState, request: ModelRequest) -> None:
    words = [entry.message.text for entry in state.log if entry.message.is_users_word]
    assert [message.text for message in request.messages if message.is_users_word] == words
    assert request.late_system is not None
    mission = state.tree.current_mission
    assert mission is not None
    assert mission.text in request.late_system


def check_failure(state: SessionState, request: ModelRequest) -> None:
    failures = [entry.message.text for entry in state.log if entry.message.is_error]
    if failures:
        assert any(failures[-1] in message.text for message in request.messages)


def check_pointers(state: SessionState) -> None:
    entries = state.view(MAIN_CONTEXT).entries
    shown = {part.seq for entry in entries for part in shown_parts(entry)}
    text = "\n".join(said_text(entry.message) for entry in entries)
    for entry in entries:
        if not entry.is_pointer:
            continue
        named = {
            int(n) for found in POINTER.findall(entry.message.text) for n in re.findall(r"#(\d+)", found)
        }
        assert named
        assert named <= shown
        assert all(line in text for line in said_text(entry.said).split("\n"))


def check_prefix(before: BuiltRequest | None, now: BuiltRequest) -> None:
    if before is not None and now.rewrite is None:
        sent = before.request.messages
        assert now.request.messages[: len(sent)] == sent


@settings(max_examples=120, deadline=None)
@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=45), st.integers(0, 9))
def test_every_request_is_valid_and_holds_what_is_never_cut(steps: list[str], salt: int) -> None:
    session = Session()
    before: BuiltRequest | None = None
    for number, step in enumerate(steps, salt):
        session.step(step, number)
        now = session.request(before)
        assert violations(now.request) == []
        check_words(session.state, now.request)
        check_failure(session.state, now.request)
        check_pointers(session.state)
        check_prefix(before, now)
        before = now
    session.step("resume", 0)
    assert session.request(before).request == before.request if before else True


def test_long_session_in_a_small_window_folds_and_points() -> None:
    session = Session()
    before: BuiltRequest | None = None
    rules, n_pointers = set(), 0
    for number in range(60):
        for step in (
            "add",
            "focus",
            "read",
            "read",
            "edit",
            "read",
            "run",
            "abandon" if number % 3 else "done",
        ):
            session.step(step, number)
            before = session.request(before)
            n_pointers += sum(e.is_pointer for e in session.state.view(MAIN_CONTEXT).entries)
            limit = input_limit(PROFILE, WINDOW)
            assert sum(section.tokens for section in before.sections) <= limit
    rules |= {getattr(record.event, "rule", "") for record in session.records}
    assert {"batch", "abandoned"} <= rules
    assert n_pointers > 0
