"""From settings and options to a session that can send its first request.

What acts on a reply is made by `acting`, later. Must not decide anything that a layer could decide.
"""

from __future__ import annotations

import asyncio
import os
import platform
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tori_tui import __version__
from tori_tui.bootstrap.ground import Ground, Opened
from tori_tui.bootstrap.late import LateParts, acting_module
from tori_tui.config import Settings
from tori_tui.config.surroundings import SessionOptions, Surroundings, real_surroundings
from tori_tui.config.translate import (
    check_limits,
    classifies,
    limits,
    make_model,
)
from tori_tui.context.instructions import load_instructions
from tori_tui.context.system_prompt import Environment, system_parts
from tori_tui.context.tokens import TokenMeter
from tori_tui.domain.commands import Command
from tori_tui.domain.events import CallStarted, Mode, Record, RunStatusChanged
from tori_tui.domain.ids import TraceId
from tori_tui.domain.request import ToolSpec
from tori_tui.domain.state import SessionState
from tori_tui.memory.model_facts import ModelFacts, TextCallers
from tori_tui.providers.registry import default_model
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.bus import Bus
from tori_tui.runtime.checkpointing import Checkpointing
from tori_tui.runtime.encoding import Encoding
from tori_tui.runtime.feedback import Feedback
from tori_tui.runtime.models import LoadedModels
from tori_tui.runtime.projector import Projector
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.requests import RequestBuilder, ViewRules
from tori_tui.runtime.rewinding import Rewinding
from tori_tui.runtime.runner import Runner
from tori_tui.runtime.session import Session
from tori_tui.runtime.spending import Spending
from tori_tui.runtime.steering import Steering
from tori_tui.runtime.turn import Turn
from tori_tui.tools.offered import offered_tools
from tori_tui.trace.catalog import find_trace, new_trace_id, trace_root_for
from tori_tui.trace.outputs import Outputs
from tori_tui.trace.projections import Projections
from tori_tui.trace.store import JsonlTraceStore, forget_if_empty
from tori_tui.workspace.checkpoints import Checkpoints
from tori_tui.workspace.git_head import find_work_tree, read_git_head
from tori_tui.workspace.lease import Lease

LEFT_OVER_COMMANDS: Final = 50
"""The newest commands of a killed session that may still run; background jobs among them."""


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
        if opened.commands:
            await acting_module().stop_left_over(opened.commands)
        return await _assemble(settings, options, world, opened)
    except BaseException:
        opened.store.close()
        forget_if_empty(opened.directory)
        raise


def _open_trace(options: SessionOptions, world: Surroundings) -> Opened:
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
    return Opened(TraceId(directory.name), directory, store, state, tuple(commands), tuple(notices))


async def _assemble(
    settings: Settings, options: SessionOptions, world: Surroundings, opened: Opened
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
    late = LateParts(ground)
    runner = _make_runner(ground, chosen, instructions.text, feedback, projector, late)

    async def shut() -> None:
        await late.close()
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


def _lay_ground(settings: Settings, options: SessionOptions, world: Surroundings, opened: Opened) -> Ground:
    root = find_work_tree(options.cwd) or options.cwd
    bus = Bus(opened.state)
    recorder = Recorder(world.wrap_store(opened.store), bus, opened.state, world.clock)
    return Ground(
        settings=settings,
        options=options,
        world=world,
        opened=opened,
        root=root,
        bus=bus,
        recorder=recorder,
        asking=Asking(recorder, world.new_token, has_user=options.has_user),
        outputs=Outputs(opened.directory / "outputs"),
        rewinding=_make_rewinding(recorder, opened, root, world),
        meter=TokenMeter(),
        models=LoadedModels(lambda name: make_model(name, settings, world), settings.fallback_models),
    )


def _make_rewinding(recorder: Recorder, opened: Opened, root: Path, world: Surroundings) -> Rewinding:
    checkpoints = Checkpoints.open(root, world.state_dir, world.environ)
    checkpointing = Checkpointing(recorder, opened.trace_id, checkpoints)
    return Rewinding(recorder, checkpointing, opened.trace_id, opened.directory / "outputs")


def _make_runner(
    ground: Ground,
    chosen: _Chosen,
    instructions: str,
    feedback: Feedback,
    projector: Projector,
    late: LateParts,
) -> Runner:
    recorder, world = ground.recorder, ground.world
    text_callers = TextCallers(ModelFacts(world.state_dir))
    encoding = Encoding(ground.settings.tool_protocol, text_callers, late.written)
    requests = _make_requests(ground, instructions, encoding, late)

    def meanwhile(state: SessionState) -> None:
        late.load()
        requests.follow(state)

    turn = Turn(
        recorder=recorder,
        models=ground.models,
        requests=requests,
        calls=late.calls,
        clock=world.clock,
        new_id=lambda: f"call_{world.new_token()}",
        encoding=encoding,
        meanwhile=meanwhile,
    )
    return Runner(
        recorder=recorder,
        turn=turn,
        calls=late.calls,
        steering=Steering(recorder, feedback),
        spending=Spending(recorder, ground.asking, limits(ground.settings, ground.options), world.clock),
        new_ending=late.new_ending,
        rewinding=ground.rewinding,
        facts=lambda: chosen.facts(recorder.state, ground.options.cwd, read_git_head(ground.root).commit),
        after_turn=projector.note,
    )


def _make_requests(ground: Ground, instructions: str, encoding: Encoding, late: LateParts) -> RequestBuilder:
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
        tools=tools,
        rules=ViewRules(ground.settings.context.plan_placement, ground.settings.context.profile),
        outputs=ground.outputs,
        facts=ModelFacts(world.state_dir),
        meter=ground.meter,
        engine=late.engine,
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


def _lease_notice(lease: Lease) -> tuple[str, ...]:
    if lease.holder is None:
        return ()
    return (f"Another session works in this tree: {lease.holder}. Its changes count as yours.",)


__all__ = ["open_session"]
