"""From settings and options to a session that can send its first request.

What acts on a reply is made by `acting`, later. Must not decide anything that a layer could decide.
"""

from __future__ import annotations

import asyncio
import os
import platform
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, cast

from tori_tui.bootstrap.chosen import Chosen
from tori_tui.bootstrap.ground import BranchTerms, Ground, Opened, RunnerParts
from tori_tui.bootstrap.late import (
    LateParts,
    acting_module,
    confining_module,
    contexts_module,
    left_over_module,
)
from tori_tui.bootstrap.project_memory import ProjectMemory
from tori_tui.bootstrap.trace_opening import commands_of_branches, forget_if_unused, open_trace
from tori_tui.config import Settings
from tori_tui.config.surroundings import SessionOptions, Surroundings, real_surroundings
from tori_tui.config.translate import (
    check_limits,
    classifies,
    limits,
    make_model,
    secret_values,
)
from tori_tui.context.instructions import load_instructions
from tori_tui.context.system_prompt import Environment, system_parts
from tori_tui.context.tokens import TokenMeter
from tori_tui.domain.commands import Command
from tori_tui.domain.events import RunStatusChanged
from tori_tui.domain.ids import CallId
from tori_tui.domain.state import SessionState
from tori_tui.memory.model_facts import ModelFacts, TextCallers
from tori_tui.permission.redaction import Redactor
from tori_tui.providers.registry import default_model
from tori_tui.runtime.asking import Asking
from tori_tui.runtime.bus import Bus
from tori_tui.runtime.encoding import Encoding
from tori_tui.runtime.feedback import Feedback
from tori_tui.runtime.going_back import GoingBack
from tori_tui.runtime.identities import Identities
from tori_tui.runtime.keyless import Keyless
from tori_tui.runtime.models import LoadedModels
from tori_tui.runtime.projector import Projector
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.requests import RequestBuilder, ViewRules
from tori_tui.runtime.runner import Runner
from tori_tui.runtime.running_branches import RunningBranches
from tori_tui.runtime.session import Services, Session
from tori_tui.runtime.spending import Spending
from tori_tui.runtime.steering import Steering
from tori_tui.runtime.turn import Turn
from tori_tui.runtime.user_shell import UserShell
from tori_tui.tools.offered import offered_tools
from tori_tui.trace.outputs import Outputs
from tori_tui.trace.projections import Projections
from tori_tui.workspace.git_head import find_work_tree, read_git_head
from tori_tui.workspace.lease import Lease

if TYPE_CHECKING:
    from tori_tui.workspace.sandbox.confinement import Sandbox

COPIES_NAME: Final = "copies"
"""Below the state folder; see `workspace.copies`, which only a session with copies loads."""

LOAD_AFTER_S: Final = 0.03
"""The first request, whose making takes that long, is out by then, and no model has answered yet."""

KILLED: Final = RunStatusChanged("interrupted", "tori was killed", "runner")
"""The end that a run could not record itself."""


async def open_session(
    settings: Settings,
    options: SessionOptions,
    surroundings: Surroundings | None = None,
    terms: BranchTerms | None = None,
) -> Session:
    """Open or resume a session; nothing runs before its `run`.

    Args:
        settings: The configuration.
        options: What the front end wants.
        surroundings: The world outside; the machine's own if left out.
        terms: Set for the session of a branch.

    Raises:
        UsageError: Model, key or limits do not fit.
        TraceError: The trace is locked, missing, too new or cannot be written.
    """
    world = surroundings or real_surroundings(os.environ)
    opened = open_trace(options, world)
    try:
        if commands := (*opened.commands, *commands_of_branches(opened)):
            await left_over_module().stop_left_over(commands)
        return await _assemble(settings, options, world, opened, terms)
    except BaseException:
        opened.store.close()
        forget_if_unused(options, opened.directory)
        raise


async def _sweep(state_dir: Path) -> None:
    """Remove the copies of the work tree that a killed session left."""
    if (state_dir / COPIES_NAME).is_dir():
        copies = cast(_CopiesModule, import_module("tori_tui.workspace.copies"))
        await asyncio.to_thread(copies.sweep_copies, state_dir)


class _CopiesModule(Protocol):
    """What is used of the module that makes copies, loaded where there are any."""

    def sweep_copies(self, state_dir: Path) -> int: ...


async def _assemble(
    settings: Settings,
    options: SessionOptions,
    world: Surroundings,
    opened: Opened,
    terms: BranchTerms | None,
) -> Session:
    ground = _lay_ground(settings, options, world, opened, terms)
    model = options.model or opened.state.model or settings.model or default_model(world.environ)
    chosen = Chosen(model, options.mode or settings.mode, ground.models.ready)
    profile, _ = await ground.models.ready(model)
    check_limits(options, profile)
    redact = Redactor(secret_values(world.environ)).redact
    instructions = load_instructions(ground.root, options.cwd, world.config_dir, redact)
    lease = None if terms else Lease.take(ground.root, opened.trace_id, world.state_dir)
    await _recover(ground, opened)
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
    shell = UserShell(
        ground.recorder, late.bash, lambda: CallId(f"shell_{world.new_token()}"), world.clock.monotonic
    )
    steering = Steering(ground.recorder, feedback, ground.identities.settle, shell.tell)
    runner = _make_runner(ground, chosen, instructions.text, steering, projector, late)

    async def prepare() -> None:
        await ground.models.prepare(chosen.model)
        await asyncio.to_thread(acting_module)

    return Session(
        directory=opened.directory,
        bus=ground.bus,
        recorder=ground.recorder,
        runner=runner,
        asking=ground.asking,
        inbox=inbox,
        services=Services(
            ground.memory.want,
            ground.branches,
            shell,
            chosen.take,
            (
                projector.serve,
                feedback.serve,
                shell.serve,
                *(() if terms else (ground.memory.serve, lambda: _sweep(world.state_dir))),
            ),
            ground.sandbox_told,
        ),
        notices=(*opened.notices, *instructions.notices, *_lease_notice(lease)),
        prepare=prepare,
        shut=lambda: _shut(ground, late, projector, lease),
    )


async def _recover(ground: Ground, opened: Opened) -> None:
    """Finish what a kill cut off, and say that it did."""
    await ground.going_back.recover()
    if opened.state.status in ("running", "waiting"):
        await ground.recorder.record(KILLED)


async def _shut(ground: Ground, late: LateParts, projector: Projector, lease: Lease | None) -> None:
    await late.close()
    await ground.going_back.close()
    if ground.terms is None:
        await ground.memory.close()
        await ground.models.close()
    await ground.recorder.sync()
    if ground.recorder.state.created_at is not None:
        projector.finish(ground.recorder.state)
    ground.opened.store.close()
    forget_if_unused(ground.options, ground.opened.directory)
    if lease is not None:
        lease.release()


def _lay_ground(
    settings: Settings,
    options: SessionOptions,
    world: Surroundings,
    opened: Opened,
    terms: BranchTerms | None,
) -> Ground:
    root = terms.root if terms else find_work_tree(options.cwd) or options.cwd
    bus = Bus(opened.state)
    keyless = Keyless(secret_values(world.environ))
    recorder = Recorder(world.wrap_store(opened.store), bus, opened.state, world.clock, keyless)
    ground = Ground(
        settings=settings,
        options=options,
        world=world,
        opened=opened,
        root=root,
        bus=bus,
        recorder=recorder,
        asking=Asking(
            recorder,
            world.new_token,
            has_user=options.has_user,
            monotonic=world.clock.monotonic,
            decider=terms.decider if terms else None,
        ),
        outputs=Outputs(opened.directory / "outputs"),
        going_back=GoingBack(
            recorder,
            lambda: acting_module().make_rewinding(recorder, opened, None if terms else root, world),
            lambda: not terms and left_over_module().is_restore_left(world.state_dir, root),
        ),
        meter=TokenMeter(),
        memory=terms.memory if terms else ProjectMemory(recorder, settings.memory.url, root, world.state_dir),
        models=terms.models
        if terms
        else LoadedModels(lambda name: make_model(name, settings, world), settings.fallback_models),
        identities=Identities(
            recorder,
            lambda: contexts_module().make_contexts(ground),
            terms.tools if terms else offered_tools(),
        ),
        branches=RunningBranches(),
        terms=terms,
        sandbox=_sandbox(settings, root, world),
    )
    return ground


def _sandbox(settings: Settings, root: Path, world: Surroundings) -> Sandbox | None:
    """Make the sandbox before anything is asked of a model: who wants one and cannot have it pays nothing."""
    if not settings.sandbox.enabled:
        return None
    return confining_module().make_sandbox(settings.sandbox, root, world.environ)


def _make_runner(
    ground: Ground,
    chosen: Chosen,
    instructions: str,
    steering: Steering,
    projector: Projector,
    late: LateParts,
) -> Runner:
    recorder, world = ground.recorder, ground.world
    text_callers = TextCallers(ModelFacts(world.state_dir))
    encoding = Encoding(ground.settings.tool_protocol, text_callers, late.written)
    requests = _make_requests(ground, instructions, encoding, late)

    def meanwhile(state: SessionState) -> None:
        if late.is_loaded:
            requests.follow(state)
        else:
            asyncio.get_running_loop().call_later(LOAD_AFTER_S, late.load)

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
    spending = Spending(
        recorder, ground.asking, limits(ground.settings, ground.options), world.clock, ground.identities
    )
    late.parts = RunnerParts(requests, spending)
    return Runner(
        recorder=recorder,
        turn=turn,
        calls=late.calls,
        steering=steering,
        spending=spending,
        new_ending=late.new_ending,
        going_back=ground.going_back,
        identities=ground.identities,
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
    terms = ground.terms
    system = (terms.system if terms else None) or system_parts(environment, instructions)
    return RequestBuilder(
        trace_id=opened.trace_id,
        rules=ViewRules(
            ground.settings.context.plan_placement,
            ground.settings.context.profile,
            terms.prefix if terms else None,
        ),
        outputs=ground.outputs,
        facts=ModelFacts(world.state_dir),
        meter=ground.meter,
        engine=late.engine,
        identity=lambda: ground.identities.identity(system),
        clock=world.clock,
        encode=encoding.encode,
    )


def _lease_notice(lease: Lease | None) -> tuple[str, ...]:
    if lease is None or lease.holder is None:
        return ()
    return (f"Another session works in this tree: {lease.holder}. Its changes count as yours.",)


__all__ = ["open_session"]
