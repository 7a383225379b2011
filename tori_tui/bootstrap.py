"""The composition root: from settings and options to a session that runs.

The only file that names concrete classes of several layers. Must not decide anything that a layer
could decide.
"""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tori_tui import __version__
from tori_tui.config import Settings
from tori_tui.config.surroundings import SessionOptions, Surroundings, real_surroundings
from tori_tui.config.translate import (
    check_limits,
    classifies,
    limits,
    make_model,
    rules,
    secret_values,
)
from tori_tui.context.instructions import load_instructions
from tori_tui.context.system_prompt import Environment, system_parts
from tori_tui.context.tokens import TokenMeter
from tori_tui.domain.commands import Command
from tori_tui.domain.events import CallStarted, Mode, Record, RunStatusChanged
from tori_tui.domain.ids import TraceId
from tori_tui.domain.state import SessionState
from tori_tui.memory.model_facts import ModelFacts, TextCallers
from tori_tui.permission.redaction import Redactor
from tori_tui.providers.registry import default_model
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.bus import Bus
from tori_tui.runtime.calls import CallRunner
from tori_tui.runtime.checkpointing import Checkpointing
from tori_tui.runtime.checks import Checks
from tori_tui.runtime.encoding import Encoding
from tori_tui.runtime.ending import Ending
from tori_tui.runtime.feedback import Feedback
from tori_tui.runtime.final_checks import FinalChecks
from tori_tui.runtime.gate import Gate
from tori_tui.runtime.goal_calls import GoalCalls, focus_after
from tori_tui.runtime.models import LoadedModels
from tori_tui.runtime.open_calls import LEFT_OVER_COMMANDS, OpenCallCloser, stop_left_over
from tori_tui.runtime.projector import Projector
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.requests import RequestBuilder
from tori_tui.runtime.restoring import Restoring
from tori_tui.runtime.rewinding import Rewinding
from tori_tui.runtime.runner import Runner
from tori_tui.runtime.scope import Scopes
from tori_tui.runtime.session import Session
from tori_tui.runtime.spending import Spending
from tori_tui.runtime.steering import Steering
from tori_tui.runtime.turn import Turn
from tori_tui.tools.abort import AbortTool
from tori_tui.tools.ask_user import AskUserTool
from tori_tui.tools.base import Tool
from tori_tui.tools.bash import Bash
from tori_tui.tools.bash_output import BashOutput
from tori_tui.tools.bash_stop import BashStop
from tori_tui.tools.edit_file import EditFileTool
from tori_tui.tools.glob_files import GlobFilesTool
from tori_tui.tools.goal import GoalTool
from tori_tui.tools.grep_files import GrepFilesTool
from tori_tui.tools.read_file import ReadFileTool
from tori_tui.tools.recall import RecallTool
from tori_tui.tools.write_file import WriteFileTool
from tori_tui.trace.catalog import find_trace, new_trace_id, trace_root_for
from tori_tui.trace.outputs import Outputs
from tori_tui.trace.projections import Projections
from tori_tui.trace.store import JsonlTraceStore, forget_if_empty
from tori_tui.workspace.checkpoints import Checkpoints
from tori_tui.workspace.descendants import Descendants
from tori_tui.workspace.git_head import find_work_tree, read_git_head
from tori_tui.workspace.jobs import Jobs
from tori_tui.workspace.lease import Lease
from tori_tui.workspace.ledger import FileLedger
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.search import Search


@dataclass(frozen=True, slots=True)
class _Opened:
    """An open trace with what it holds so far."""

    trace_id: TraceId
    directory: Path
    store: JsonlTraceStore
    state: SessionState
    commands: tuple[CallStarted, ...]
    """The newest commands that were run, which a kill may have left running."""
    notices: tuple[str, ...]


async def open_session(
    settings: Settings, options: SessionOptions, surroundings: Surroundings | None = None
) -> Session:
    """Open or resume a session; nothing runs before its `run`.

    Raises:
        UsageError: Model, key or limits do not fit.
        TraceError: The trace is locked, missing, too new or cannot be written.
    """
    world = surroundings or real_surroundings(os.environ)
    opened = _open_trace(options, world)
    try:
        await stop_left_over(opened.commands)
        return await _assemble(settings, options, world, opened)
    except BaseException:
        opened.store.close()
        forget_if_empty(opened.directory)
        raise


def _open_trace(options: SessionOptions, world: Surroundings) -> _Opened:
    root, is_fallback = (options.trace_dir, False) if options.trace_dir else trace_root_for(options.cwd)
    notices: list[str] = []
    if options.resume is None:
        directory = root / new_trace_id(world.clock.now(), world.new_token())
    else:
        directory = find_trace(root, options.resume)
    if is_fallback:
        notices.append(f"The work tree cannot be written, so the trace lies in {directory}.")
    store = JsonlTraceStore.open(directory)
    commands: deque[CallStarted] = deque(maxlen=LEFT_OVER_COMMANDS)

    def note(record: Record) -> None:
        if isinstance(record.event, CallStarted) and record.event.process is not None:
            commands.append(record.event)

    try:
        state = store.load(note)
        notices += [f"Trace, line {fault.line}: {fault.reason}" for fault in store.faults]
    except BaseException:
        store.close()
        raise
    return _Opened(TraceId(directory.name), directory, store, state, tuple(commands), tuple(notices))


@dataclass(frozen=True, slots=True)
class _Ground:
    """What everything else of a session stands on."""

    settings: Settings
    options: SessionOptions
    world: Surroundings
    opened: _Opened
    root: Path
    bus: Bus
    recorder: Recorder
    asking: Asking
    redactor: Redactor
    outputs: Outputs
    workspace: Workspace
    jobs: Jobs
    models: LoadedModels
    rewinding: Rewinding


async def _assemble(
    settings: Settings, options: SessionOptions, world: Surroundings, opened: _Opened
) -> Session:
    ground = _lay_ground(settings, options, world, opened)
    chosen = _Chosen(
        options.model or opened.state.model or settings.model or default_model(world.environ),
        options.mode or settings.mode,
    )
    profile, _ = await ground.models.ready(chosen.model)
    check_limits(options, profile)
    instructions = load_instructions(ground.root, options.cwd, world.config_dir)
    lease = Lease.take(ground.root, opened.trace_id, world.state_dir)
    await ground.rewinding.recover()
    projector = Projector(Projections(opened.directory, opened.trace_id).write)
    inbox: asyncio.Queue[Command] = asyncio.Queue()
    feedback = Feedback(
        ground.recorder,
        ground.models,
        model=settings.feedback.model,
        is_on=lambda profile: classifies(settings, profile),
        route=inbox.put_nowait,
    )
    runner = _make_runner(ground, chosen, instructions.text, feedback, projector)

    async def shut() -> None:
        await ground.jobs.close()
        await ground.rewinding.checkpointing.close()
        await ground.models.close()
        await ground.recorder.sync()
        if ground.recorder.state.created_at is not None:
            projector.finish(ground.recorder.state)
        opened.store.close()
        forget_if_empty(opened.directory)
        lease.release()

    return Session(
        directory=opened.directory,
        bus=ground.bus,
        recorder=ground.recorder,
        runner=runner,
        asking=ground.asking,
        inbox=inbox,
        services=(projector.serve, feedback.serve),
        notices=(*opened.notices, *instructions.notices, *_lease_notice(lease)),
        prepare=lambda: ground.models.prepare(chosen.model),
        shut=shut,
    )


def _lay_ground(settings: Settings, options: SessionOptions, world: Surroundings, opened: _Opened) -> _Ground:
    root = find_work_tree(options.cwd) or options.cwd
    bus = Bus(opened.state)
    recorder = Recorder(world.wrap_store(opened.store), bus, opened.state, world.clock)
    return _Ground(
        settings=settings,
        options=options,
        world=world,
        opened=opened,
        root=root,
        bus=bus,
        recorder=recorder,
        asking=Asking(recorder, world.new_token, has_user=options.has_user),
        redactor=Redactor(secret_values(world.environ)),
        outputs=Outputs(opened.directory / "outputs"),
        workspace=Workspace(root, options.cwd, also_readable=(opened.directory,)),
        jobs=Jobs(Descendants()),
        rewinding=_make_rewinding(recorder, opened, root, world),
        models=LoadedModels(lambda name: make_model(name, settings, world), settings.fallback_models),
    )


def _make_rewinding(recorder: Recorder, opened: _Opened, root: Path, world: Surroundings) -> Rewinding:
    checkpoints = Checkpoints.open(root, world.state_dir, world.environ)
    checkpointing = Checkpointing(recorder, opened.trace_id, checkpoints)
    return Rewinding(recorder, checkpointing, opened.trace_id, opened.directory / "outputs")


def _make_runner(
    ground: _Ground, chosen: _Chosen, instructions: str, feedback: Feedback, projector: Projector
) -> Runner:
    recorder, asking, world = ground.recorder, ground.asking, ground.world
    tools = _make_tools(ground)
    gate = Gate(recorder, asking, ground.workspace, rules(ground.settings))
    scopes = Scopes(recorder, asking, ground.redactor.redact, ground.rewinding.checkpointing)
    checks = Checks(tools["bash"], gate, scopes, world.clock)
    encoding = _make_encoding(ground, tools)
    requests = _make_requests(ground, instructions, tools, encoding)
    restoring = Restoring(recorder, ground.rewinding, has_user=ground.options.has_user)
    calls = CallRunner(
        recorder=recorder,
        tools=tools,
        gate=gate,
        scopes=scopes,
        goal_calls=GoalCalls(recorder, tools["goal"], checks, scopes, restoring),
        closer=OpenCallCloser(ground.workspace, ground.outputs),
        redactor=ground.redactor,
        outputs=ground.outputs,
        clock=world.clock,
        door=requests.at_the_door,
    )
    turn = Turn(
        recorder=recorder,
        models=ground.models,
        requests=requests,
        calls=calls,
        focus_after=focus_after,
        clock=world.clock,
        new_id=lambda: f"call_{world.new_token()}",
        encoding=encoding,
    )
    runner: Runner
    final_checks = FinalChecks(recorder, checks, world.new_token)
    runner = Runner(
        recorder=recorder,
        turn=turn,
        calls=calls,
        steering=Steering(recorder, feedback),
        spending=Spending(recorder, asking, limits(ground.settings, ground.options), world.clock),
        ending=Ending(recorder, asking, final_checks, lambda: runner.has_words),
        rewinding=ground.rewinding,
        facts=lambda: chosen.facts(recorder.state, ground.options.cwd, read_git_head(ground.root).commit),
        after_turn=projector.note,
    )
    return runner


def _make_encoding(ground: _Ground, tools: Mapping[str, Tool]) -> Encoding:
    return Encoding(
        setting=ground.settings.tool_protocol,
        text_callers=TextCallers(ModelFacts(ground.world.state_dir)),
        tools=[tool.spec for tool in tools.values()],
        turns_limit=limits(ground.settings, ground.options).turns,
        new_id=lambda: f"call_{ground.world.new_token()}",
    )


def _make_requests(
    ground: _Ground, instructions: str, tools: Mapping[str, Tool], encoding: Encoding
) -> RequestBuilder:
    opened, world = ground.opened, ground.world
    head = read_git_head(ground.root)
    environment = Environment(
        cwd=str(ground.options.cwd),
        system=f"{platform.system()} {platform.release()}",
        today=(opened.state.created_at or world.clock.now()).date(),
        git_branch=head.branch,
        git_head=head.commit,
        work_tree=str(ground.root),
    )
    return RequestBuilder(
        trace_id=opened.trace_id,
        system=system_parts(environment, instructions),
        tools=[tool.spec for tool in tools.values()],
        placement=ground.settings.context.plan_placement,
        profile_name=ground.settings.context.profile,
        outputs=ground.outputs,
        facts=ModelFacts(world.state_dir),
        meter=TokenMeter(),
        clock=world.clock,
        encode=encoding.encode,
    )


class _Chosen:
    """Model and mode with which the first run begins; afterwards the state knows better."""

    def __init__(self, model: str, mode: Mode) -> None:
        self.model = model
        self.mode = mode
        self._has_begun = False

    def facts(self, state: SessionState, cwd: Path, commit: str) -> RunStatusChanged:
        """Return the record that begins a run."""
        if self._has_begun:
            return RunStatusChanged(
                "running",
                model=state.model,
                mode=state.mode,
                cwd=str(cwd),
                git_head=commit,
                tori_version=__version__,
            )
        self._has_begun = True
        return RunStatusChanged(
            "running",
            model=self.model,
            mode=self.mode,
            cwd=str(cwd),
            git_head=commit,
            tori_version=__version__,
        )


def _make_tools(ground: _Ground) -> dict[str, Tool]:
    workspace, outputs, jobs = ground.workspace, ground.outputs, ground.jobs
    environ = ground.world.environ
    ledger = FileLedger()
    for entry in ground.opened.state.log:
        ledger.learn(entry.message.details)
    search = Search(shutil.which("rg", path=environ.get("PATH")))
    tools: tuple[Tool, ...] = (
        GoalTool(),
        AskUserTool(),
        AbortTool(),
        RecallTool(outputs),
        ReadFileTool(workspace, ledger),
        WriteFileTool(workspace, ledger, outputs),
        EditFileTool(workspace, ledger, outputs),
        GlobFilesTool(workspace, search),
        GrepFilesTool(workspace, search),
        Bash(workspace, jobs, outputs, base_environment=environ, redact=ground.redactor.redact),
        BashOutput(jobs),
        BashStop(jobs),
    )
    return {tool.name: tool for tool in tools}


def _lease_notice(lease: Lease) -> tuple[str, ...]:
    if lease.holder is None:
        return ()
    return (f"Another session works in this tree: {lease.holder}. Its changes count as yours.",)


__all__ = ["SessionOptions", "Surroundings", "open_session", "real_surroundings"]
