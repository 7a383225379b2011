"""One life of a session in a process of its own, which kills itself (SIGKILL) at a chosen place.

The places are counted: before and after each append, around each sync, and at each step of any task.
What a life saw and what it finds wrong is written down at once, so that it outlives the kill.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress
from contextvars import Context
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tests.fakes.provider import CutReply, ScriptedCall, ScriptedProvider, ScriptedReply, Turn
from tests.fakes.session import records_of, reply, scripted, surroundings_for
from tests.wire.rules_chat import chat_violations
from tests.wire.rules_messages import messages_violations
from tests.wire.rules_responses import responses_violations
from tori_tui.bootstrap import SessionOptions, open_session
from tori_tui.config import ContextSettings, FeedbackSettings, Settings
from tori_tui.context.classify import CONTEXT
from tori_tui.domain.commands import (
    AddComment,
    AnswerQuestion,
    Command,
    ContinueRun,
    DecideApproval,
    EditPlan,
    InterruptRun,
    RewindTo,
    SubmitPrompt,
    SwitchMode,
    SwitchModel,
    UndoRewind,
)
from tori_tui.domain.events import ApprovalChanged, Mode, QuestionAsked, Record
from tori_tui.domain.goal_call import GoalRefused
from tori_tui.domain.ids import CommentId
from tori_tui.domain.plan_command import read_plan_command
from tori_tui.domain.request import ModelRequest
from tori_tui.domain.state import SessionState, reduce_all
from tori_tui.providers.anthropic.encode import encode_messages
from tori_tui.providers.base import StreamEvent
from tori_tui.providers.catalogue import profile_for
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.openai.chat_encode import ChatDialect, encode_chat
from tori_tui.providers.openai.responses_encode import encode_responses
from tori_tui.runtime.bus import Published
from tori_tui.runtime.runner import can_continue
from tori_tui.runtime.session import Session
from tori_tui.trace.store import TraceStore

MODELS = ("openai-chat/scripted", "openai-chat/other")
QUIET_S = 0.03
IDLE_LIMIT_S = 40.0

Step = tuple[str, int]
"""What the front end does, and how many events it waits for before that."""

STEPS = (
    *("comment", "comment", "now", "later", "replan", "retry", "node", "plain burst", "edit", "edit", "edit"),
    *("rewind", "interrupt", "prompt", "continue", "model", "mode", "allow", "deny", "answer", "wait"),
)

REPLIES = (
    *("plan", "plan", "focus", "done", "done", "abandon", "read", "write", "edit", "run", "sleep", "gated"),
    *("parallel", "checked", "ask", "text", "question", "empty", "broken", "unknown", "slow", "fails", "cut"),
    *("sleep", "write", "parallel", "gated"),
)

Profile = Literal["balanced", "now"]


@dataclass(frozen=True, slots=True)
class Life:
    """From opening the trace to its close, or to the kill."""

    steps: tuple[Step, ...]
    replies: tuple[str, ...]
    kill: Literal["", "record", "task"] = ""
    place: int = 0
    is_torn: bool = False
    """The kill leaves half a line."""


@dataclass(frozen=True, slots=True)
class Story:
    """Some lives on one trace; the last one is never killed."""

    lives: tuple[Life, ...]
    mode: Mode = "auto"
    profile: Profile = "balanced"
    salt: int = 0


class Journal:
    """What a life leaves for those who judge it; each line is in the file before the next thing happens."""

    def __init__(self, path: Path) -> None:
        self._handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def note(self, kind: str, value: object) -> None:
        os.write(self._handle, json.dumps([kind, value]).encode() + b"\n")


class Fuse:
    """Counts places of one kind and kills the process at the chosen one."""

    def __init__(self, life: Life) -> None:
        self._kind = life.kill
        self._left = life.place

    def burn(self, kind: str) -> None:
        if kind != self._kind:
            return
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)


class FusedStore:
    """A store with a fuse around everything it does."""

    def __init__(self, store: TraceStore, fuse: Fuse) -> None:
        self._store = store
        self._fuse = fuse

    def append(self, record: Record) -> None:
        self._fuse.burn("record")
        self._store.append(record)
        self._fuse.burn("record")

    async def sync(self) -> None:
        self._fuse.burn("record")
        await self._store.sync()
        self._fuse.burn("record")

    def close(self) -> None:
        self._store.close()


class FusedLoop(asyncio.SelectorEventLoop):
    """A loop with a fuse at every step of every task."""

    def __init__(self, fuse: Fuse) -> None:
        super().__init__()
        self._fuse = fuse

    def call_soon(
        self, callback: Callable[..., object], *args: object, context: Context | None = None
    ) -> asyncio.Handle:
        self._fuse.burn("task")
        return super().call_soon(callback, *args, context=context)


class RandomModel:
    """Replies of the wished kinds, made to fit the plan that the request shows; checks each request."""

    name = "scripted"

    def __init__(self, life: Life, story: Story, journal: Journal) -> None:
        self._kinds = list(life.replies)
        self._is_tidy = story.salt % 3 > 0
        self._random = random.Random(story.salt)
        self._journal = journal
        self._n = 0
        self.state: Callable[[], SessionState] = SessionState

    async def prepare(self) -> None:
        pass

    async def close(self) -> None:
        pass

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        for violation in violations(request):
            self._journal.note("violation", violation)
        if request.context == CONTEXT:
            turn: Turn = self._verdicts(request)
        else:
            self._check_words(request)
            turn = self._turn(request)
        async for event in ScriptedProvider([turn]).stream(request):
            yield event

    def _check_words(self, request: ModelRequest) -> None:
        words = [entry.message.text for entry in self.state().live_log if entry.message.is_users_word]
        shown = [message.text for message in request.messages if message.is_users_word]
        if shown != words:
            self._journal.note("violation", f"the user said {words}, the request shows {shown}")

    def _verdicts(self, request: ModelRequest) -> Turn:
        n_remarks = len(re.findall(r"^\d+\. ", request.messages[0].text.split("## Remarks")[1], re.MULTILINE))
        ids = re.findall(r"\] ([\d.']*[\d'])", request.messages[0].text)
        verdicts = [
            {
                "remark": number,
                "impact": self._random.choice(("future", "current", "past", "requirement_change")),
                "goals": self._random.sample([*ids, "77"], k=self._random.randint(0, 1)),
                "rejects": self._random.random() < 0.5,
                "confidence": self._random.choice((0.3, 0.9)),
            }
            for number in range(1, n_remarks + 1)
        ]
        delay_s = self._random.choice((0.0, 0.0, 0.01))
        return ScriptedReply(json.dumps(verdicts), delay_s=delay_s, piece_chars=400)

    def _turn(self, request: ModelRequest) -> Turn:
        self._n += 1
        plan = request.late_system or ""
        open_ids = re.findall(r"\[[ →]\] ([\d.']*[\d'])", plan)
        if not self._kinds and open_ids and self._is_tidy:
            focus = {"focus": open_ids[-1]}
            return reply("", goal={"abandon": "left out"} if "← current" in plan else focus)
        if not self._kinds:
            return ScriptedReply("That is all.")
        return self._of_kind(self._kinds.pop(0), open_ids, f"{os.getpid()}-{self._n}")

    def _of_kind(self, kind: str, open_ids: list[str], unique: str) -> Turn:
        name = f"f{self._n % 3}.txt"
        focus = {"focus": self._random.choice(open_ids)} if open_ids else {}
        error = ProviderError("401 for the key", fault="auth", status=401)
        calls: Mapping[str, Callable[[], Turn]] = {
            "plan": lambda: reply("", goal={"add": f"Part a{unique}, Part b{unique}"} | focus),
            "checked": lambda: reply("", goal={"add": f"Checked {unique} [check: test -e {name}]"}),
            "focus": lambda: reply("", goal=focus or {"focus": "99"}),
            "done": lambda: reply("", goal={"done": f"did {unique}"} | focus),
            "abandon": lambda: reply("", goal={"abandon": f"no way {unique}", "add": f"Way {unique}"}),
            "read": lambda: reply("I look.", read_file={"path": "a.txt"}),
            "write": lambda: reply("", write_file={"path": name, "content": f"{unique}\n"}),
            "edit": lambda: reply("", edit_file={"path": "a.txt", "old": "end\n", "new": f"{unique}\nend\n"}),
            "run": lambda: reply("", bash={"command": f"echo {unique}"}),
            "sleep": lambda: reply("", bash={"command": f"echo {unique}; sleep 0.15"}),
            "gated": lambda: reply("", bash={"command": f"touch {name} && echo {unique}"}),
            "ask": lambda: reply("", ask_user={"question": "Which?", "options": ["a", "b"]}),
            "text": lambda: reply(f"I think {unique}."),
            "question": lambda: reply(f"Shall I {unique}?"),
            "empty": lambda: ScriptedReply(" "),
            "broken": lambda: ScriptedReply("", (ScriptedCall("read_file", '{"path": "a.t'),)),
            "unknown": lambda: reply("", nonsense={}),
            "slow": lambda: ScriptedReply(f"slowly {unique} " * 4, delay_s=0.005),
            "fails": lambda: error,
            "cut": lambda: CutReply(reply(f"half a sentence {unique}"), 2, error),
            "parallel": lambda: ScriptedReply(
                "",
                (
                    scripted("read_file", {"path": "a.txt"}),
                    scripted("bash", {"command": f"sleep 0.05; echo {unique}"}),
                    scripted("goal", {"add": f"More {unique}"} | focus),
                    scripted("grep_files", {"pattern": "end"}),
                ),
            ),
        }
        return calls[kind]()


def violations(request: ModelRequest) -> list[str]:
    """Return what the three protocols have against a request."""
    found = [*chat_violations(encode_chat(request, ChatDialect("h")))]
    found += responses_violations(encode_responses(request))
    return [*found, *messages_violations(encode_messages(request))]


class FrontEnd:
    """Sends a life's commands at its places, and answers what is asked at its end."""

    def __init__(self, session: Session, story: Story, number: int, journal: Journal) -> None:
        self._session = session
        self._story = story
        self._number = number
        self._journal = journal
        self._random = random.Random(story.salt + number)
        self._subscription = session.subscribe()
        self._news = asyncio.Event()
        self._approvals: list[ApprovalChanged] = []
        self._questions: list[QuestionAsked] = []
        self._n_said = 0
        self.n_items = 0

    async def read(self) -> None:
        async for item in self._subscription:
            self.n_items += 1
            self._news.set()
            event = item.record.event if isinstance(item, Published) else item
            if isinstance(item, Published):
                self._journal.note("seen", item.record.seq)
            if isinstance(event, ApprovalChanged) and event.state == "asked":
                self._approvals.append(event)
            if isinstance(event, QuestionAsked):
                self._questions.append(event)

    async def play(self, steps: tuple[Step, ...]) -> None:
        for step, n_wait in steps:
            await self._wait_for(n_wait)
            for command in self._commands(step):
                if isinstance(command, (AddComment, SubmitPrompt)):
                    self._journal.note("said", command.text)
                self._session.send(command)

    async def until_idle(self) -> None:
        """Answer whatever is asked until the session has nothing to do."""
        async with asyncio.timeout(IDLE_LIMIT_S):
            await self._wait_for(1)
            while self._session.is_running:
                for command in (*self._commands("allow"), *self._commands("answer")):
                    self._session.send(command)
                await self._wait_for(1)
        self.look_for_stuck_words()

    def look_for_stuck_words(self) -> None:
        """In an idle session nothing that was said may wait for something that never comes."""
        state = self._session.state
        last = next(reversed(state.live_log), None)
        is_unanswered = last is None or last.message.is_users_word or last.mission_id != state.tree.mission
        if not can_continue(state) and (state.comments or is_unanswered):
            self._journal.note("violation", f"stuck: {[*state.comments]}, {last}")

    async def finish(self) -> None:
        """Go on until what was said has taken effect."""
        for _ in range(3):
            await self.until_idle()
            if not can_continue(self._session.state):
                return
            self._session.send(ContinueRun())
        await self.until_idle()

    async def _wait_for(self, n_items: int) -> None:
        wanted = self.n_items + n_items
        while self.n_items < wanted:
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), QUIET_S)
            except TimeoutError:
                return

    def _commands(self, step: str) -> list[Command]:
        tree = self._session.state.tree
        goals = [str(goal.id) for goal in tree.walk()] or ["1"]
        goal = self._random.choice(goals)
        match step:
            case "comment":
                return [self._comment("")]
            case "now" | "later" | "replan":
                return [self._comment(step)]
            case "retry":
                return [self._comment(f"retry:{goal}")]
            case "node":
                return [self._comment(f"goal:{goal}")]
            case "plain burst":
                return [self._comment(""), self._comment("now"), self._comment("")]
            case "edit":
                return self._edit(goal)
            case "interrupt":
                return [InterruptRun()]
            case "prompt":
                return [SubmitPrompt(self._text("mission"), continues=self._random.random() < 0.3)]
            case "rewind":
                turn = self._random.randint(1, max(1, self._session.state.n_turns))
                back = RewindTo(turn=turn, files=self._random.random() < 0.5)
                return [self._random.choice((back, back, UndoRewind()))]
            case "continue":
                return [ContinueRun()]
            case "model" | "mode":
                mode: Mode = self._random.choice(("ask", "edit", "auto", "plan"))
                return [SwitchMode(mode) if step == "mode" else SwitchModel(self._random.choice(MODELS))]
            case "allow" | "deny":
                return [
                    DecideApproval(self._approvals.pop().approval_id, allow=step == "allow")
                    for _ in self._approvals[-1:]
                ]
            case "answer":
                return [AnswerQuestion(self._questions.pop().question_id, "a") for _ in self._questions[-1:]]
            case _:
                return []

    def _comment(self, aim: str) -> AddComment:
        text = self._text("remark")
        return AddComment(CommentId(text.replace(" ", "-")), text, aim)

    def _text(self, kind: str) -> str:
        self._n_said += 1
        return f"{kind} {self._number}.{self._n_said}"

    def _edit(self, goal: str) -> list[Command]:
        wish = self._random.choice(
            (
                *(f"add New {self._n_said}", f"drop {goal}", f"rename {goal} Named {self._n_said}"),
                *(f"focus {goal}", f"done {goal} so be it", f"move {goal} up", f"pin {goal}"),
                *(f"check {goal} test -e f1.txt", f"budget {goal} 2 turns", f"move {goal} last"),
            )
        )
        try:
            return [EditPlan(tuple(read_plan_command(self._session.state.tree, wish)))]
        except GoalRefused:
            return []


def live(root: Path, story: Story, number: int) -> None:
    """Live one life; the process ends with it."""
    life = story.lives[number]
    journal = Journal(journal_of(root, number))
    fuse = Fuse(life)
    try:
        with asyncio.Runner(loop_factory=lambda: FusedLoop(fuse)) as runner:
            runner.run(_live(root, story, number, journal, fuse))
    except BaseException as error:
        journal.note("violation", f"life {number} failed: {error!r}")
        raise
    journal.note("ended", number)


async def _live(root: Path, story: Story, number: int, journal: Journal, fuse: Fuse) -> None:
    life = story.lives[number]
    model = RandomModel(life, story, journal)
    world = surroundings_for(model, root.parent / "home")
    clock = replace(world.clock, sleep=lambda _: asyncio.sleep(0.001))
    profiles = {name: replace(profile_for(name), late_system=True) for name in MODELS}
    world = replace(
        world,
        clock=clock,
        make_model=lambda name: (profiles[name], model),
        wrap_store=lambda store: FusedStore(store, fuse),
    )
    options = SessionOptions(
        root, MODELS[0], story.mode, has_user=True, resume="" if traces_in(root) else None
    )
    settings = Settings(
        feedback=FeedbackSettings(classifier="on"), context=ContextSettings(profile=story.profile)
    )
    session = await open_session(settings, options, world)
    model.state = lambda: session.state
    front_end = FrontEnd(session, story, number, journal)
    serving = asyncio.create_task(session.run())
    reading = asyncio.create_task(front_end.read())
    await asyncio.sleep(0)
    is_last = number == len(story.lives) - 1
    if session.state.tree.mission is None:
        first = f"mission {number}.0"
        journal.note("said", first)
        session.send(SubmitPrompt(first))
    else:
        front_end.look_for_stuck_words()
        if is_last and can_continue(session.state):
            session.send(ContinueRun())
    await front_end.play(life.steps)
    if is_last:
        await front_end.finish()
    await session.close()
    await serving
    with suppress(asyncio.CancelledError):
        reading.cancel()
        await reading
    if reduce_all(records_of(session.directory)) != session.state:
        journal.note("violation", "replay is not live")


def journal_of(root: Path, number: int) -> Path:
    return root.parent / f"life-{number}.jsonl"


def traces_in(root: Path) -> list[Path]:
    """Return the traces in which something was recorded."""
    return [path.parent for path in (root / ".trace").glob("*/messages.jsonl") if path.stat().st_size]


__all__ = ["REPLIES", "STEPS", "Journal", "Life", "Story", "journal_of", "live", "traces_in", "violations"]
