"""A session without the app: one run from the command line, its events printed, its end an exit code.

Must not know how the runner works; it sends commands and reads what the session publishes.
"""

from __future__ import annotations

import asyncio
import gc
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tori_tui.bootstrap import SessionOptions, open_session
from tori_tui.cli import streams
from tori_tui.cli.exit_codes import DONE, FAILED, INCOMPLETE, INTERRUPTED, LIMIT, PROVIDER
from tori_tui.cli.folder_question import ask_about_folder
from tori_tui.cli.front import Front
from tori_tui.cli.interrupts import Interrupts
from tori_tui.cli.json_lines import JsonLines
from tori_tui.cli.mission import read_mission
from tori_tui.cli.options import ModeName
from tori_tui.cli.progress import Progress
from tori_tui.cli.questions import Questions
from tori_tui.cli.traces import working_directory
from tori_tui.config import LoadedSettings, load_settings
from tori_tui.domain.commands import Command, ContinueRun, SubmitPrompt
from tori_tui.domain.errors import ToriError, UsageError
from tori_tui.domain.events import ApprovalChanged, QuestionAsked, RequestStarted, RunStatusChanged
from tori_tui.domain.state import SessionState
from tori_tui.providers.registry import is_unnamed
from tori_tui.runtime.bus import BusItem, Published, Resync
from tori_tui.runtime.runner import can_continue
from tori_tui.runtime.session import Session

ENDED: Final = frozenset({"done", "failed", "incomplete", "interrupted", "limit"})

CLOSE_LIMIT_S: Final = 10.0
"""After a second Ctrl+C: longer than a process needs from TERM to KILL, shorter than patience."""


@dataclass(frozen=True, slots=True)
class OneShot:
    """What the command line asked for."""

    mission: str | None = None
    """None goes on with the mission of the resumed trace."""
    model: str | None = None
    mode: ModeName | None = None
    sandbox: bool = False
    as_json: bool = False
    check: str | None = None
    max_turns: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None
    trace_dir: Path | None = None
    resume: str | None = None
    cwd: Path | None = None


@dataclass(slots=True)
class Outcome:
    """How a run ended, as far as it is known."""

    state: SessionState
    denied: list[ApprovalChanged] = field(default_factory=list)
    has_ended: bool = False

    def take(self, item: BusItem) -> None:
        """Learn from one event."""
        match item:
            case Published(record=record, state=state):
                self.state = state
                match record.event:
                    case ApprovalChanged(state="denied") as denial:
                        self.denied.append(denial)
                    case RunStatusChanged(status=status):
                        self.has_ended = status in ENDED
            case Resync(state=state):
                self.state = state
                self.has_ended = state.status in ENDED


def run_one_shot(arguments: OneShot) -> int:
    """Run a mission and return the exit code.

    Raises:
        UsageError: The command line, the configuration or the surroundings do not allow it.
        ToriError: The session could not be opened.
    """
    cwd = working_directory(arguments.cwd)
    if arguments.mission is None and arguments.resume is None:
        raise UsageError("There is no mission.", "Say what to do: tori run 'fix the failing test'")
    has_user = streams.has_terminal() and arguments.mission != "-"
    if has_user:
        ask_about_folder(cwd)
    loaded = load_settings(
        os.environ, cwd, model=arguments.model, mode=arguments.mode, sandbox=arguments.sandbox
    )
    if not has_user and "mode" not in loaded.sources:
        raise UsageError(
            "Nobody can be asked here (this is no terminal), and no mode was given.",
            "Say what may run without a question: --mode edit (edits of files) or --mode auto (everything).",
        )
    mission = None if arguments.mission is None else read_mission(arguments.mission)
    if is_unnamed(loaded.settings.model, os.environ):
        loaded = named_by_server(loaded)
    options = SessionOptions(
        cwd=cwd,
        model=arguments.model,
        mode=arguments.mode,
        trace_dir=arguments.trace_dir,
        resume=arguments.resume,
        has_user=has_user,
        check=arguments.check,
        max_turns=arguments.max_turns,
        max_cost_usd=arguments.max_cost_usd,
        max_seconds=arguments.max_seconds,
    )
    front = JsonLines() if arguments.as_json else Progress(sys.stderr)
    check = arguments.check
    command = ContinueRun(check) if mission is None else SubmitPrompt(mission, check=check)
    try:
        return asyncio.run(run_session(loaded, options, command, front))
    except asyncio.CancelledError:
        return INTERRUPTED


def named_by_server(loaded: LoadedSettings) -> LoadedSettings:
    """Return the configuration with the first model of the user's server."""
    from tori_tui.cli.first_of_server import with_first_of_server

    return with_first_of_server(loaded, os.environ)


def exit_code(state: SessionState, denied: tuple[ApprovalChanged, ...], *, has_user: bool) -> int:
    """Return what the end of a run means for the caller."""
    match state.status:
        case "done":
            # Without a user a refusal was nobody's decision: the work may lack what was refused.
            # A green check of the mission outweighs that.
            mission = state.tree.current_mission
            is_checked = mission is not None and mission.check is not None
            return INCOMPLETE if denied and not has_user and not is_checked else DONE
        case "incomplete":
            return INCOMPLETE
        case "limit":
            return LIMIT
        case "interrupted":
            return INTERRUPTED
        case _:
            return PROVIDER if state.cause == "provider" else FAILED


async def run_session(loaded: LoadedSettings, options: SessionOptions, command: Command, front: Front) -> int:
    """Open a session, give it one command, print until the run has ended, and return the exit code.

    Raises:
        ToriError: The session could not be opened or served.
    """
    with Interrupts(asyncio.get_running_loop(), asyncio.current_task()) as interrupts:
        session = await open_session(loaded.settings, options)
        confined = (f"Sandbox {session.sandbox}",) if session.sandbox else ()
        front.begin(session, (*confined, *loaded.notices, *session.notices))
        if isinstance(command, ContinueRun) and not can_continue(session.state):
            outcome = Outcome(session.state)
            await session.close()
        else:
            outcome = await _follow(session, command, front, interrupts)
    denied = tuple(outcome.denied)
    front.finish(outcome.state, denied)
    return exit_code(outcome.state, denied, has_user=options.has_user)


async def _follow(session: Session, command: Command, front: Front, interrupts: Interrupts) -> Outcome:
    """Send the command and print what happens until the run has ended; the session is closed then."""
    questions = Questions(session.send)
    outcome = Outcome(session.state)
    subscription = session.subscribe()
    serving = asyncio.create_task(session.run())
    interrupts.watch(session, questions)
    try:
        session.send(command)
        async for item in subscription:
            _collect_garbage_after(item)
            front.show(item)
            outcome.take(item)
            if outcome.has_ended:
                break
            match item:
                case Published(record=record) if isinstance(record.event, ApprovalChanged):
                    await questions.approval(record.event)
                case Published(record=record) if isinstance(record.event, RunStatusChanged):
                    interrupts.repeat()
                case QuestionAsked():
                    await questions.question(item)
    finally:
        await _close(session, serving)
    return outcome


def _collect_garbage_after(item: BusItem) -> None:
    """Look for garbage again once the first reply has begun: by then everything is imported."""
    if not gc.isenabled() and not isinstance(item, (Published, RequestStarted)):
        gc.freeze()
        gc.enable()


async def _close(session: Session, serving: asyncio.Task[None]) -> None:
    try:
        async with asyncio.timeout(CLOSE_LIMIT_S):
            await session.close()
            await serving
    except TimeoutError:
        serving.cancel()
    except BaseExceptionGroup as group:
        raise _first_cause(group) from group


def _first_cause(error: BaseException) -> BaseException:
    """Return what really failed: a group of tasks wraps it."""
    while isinstance(error, BaseExceptionGroup):
        ours, _ = error.split(ToriError)
        error = (ours or error).exceptions[0]
    return error


__all__ = ["OneShot", "exit_code", "run_one_shot", "run_session"]
