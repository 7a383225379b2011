"""What acts on a reply: tools, permission, checks, the judge of a run's end.

Imported while the first request is under way, or when its reply is there: it holds a third of what tori
itself must load. Must not be imported at the top of a module.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tori_tui.bootstrap.ground import Ground, Opened, RunnerParts
from tori_tui.bootstrap.late import branches_module
from tori_tui.config import user_config_path
from tori_tui.config.saving import save_rules
from tori_tui.config.surroundings import Surroundings
from tori_tui.config.translate import limits, rules, secret_values
from tori_tui.context.engine import ViewEngine
from tori_tui.permission.redaction import Redactor
from tori_tui.runtime.calls import CallRunner
from tori_tui.runtime.checkpointing import Checkpointing
from tori_tui.runtime.checks import Checks
from tori_tui.runtime.ending import Ending
from tori_tui.runtime.final_checks import FinalChecks
from tori_tui.runtime.gate import Gate
from tori_tui.runtime.goal_calls import GoalCalls
from tori_tui.runtime.open_calls import OpenCallCloser
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.restoring import Restoring
from tori_tui.runtime.rewinding import Rewinding
from tori_tui.runtime.scope import Scopes
from tori_tui.runtime.written_calls import WrittenCalls
from tori_tui.tools.abort import AbortTool
from tori_tui.tools.adopt import AdoptTool
from tori_tui.tools.ask_user import AskUserTool
from tori_tui.tools.base import CallScope, Tool, ToolOutput
from tori_tui.tools.bash import Bash
from tori_tui.tools.bash_output import BashOutput
from tori_tui.tools.bash_stop import BashStop
from tori_tui.tools.edit_file import EditFileTool
from tori_tui.tools.explore import Exploration, ExploreTool
from tori_tui.tools.glob_files import GlobFilesTool
from tori_tui.tools.goal import GoalTool
from tori_tui.tools.grep_files import GrepFilesTool
from tori_tui.tools.memory_add import MemoryAddTool
from tori_tui.tools.memory_search import MemorySearchTool
from tori_tui.tools.read_file import ReadFileTool
from tori_tui.tools.recall import RecallTool
from tori_tui.tools.session_memory_get import SessionMemoryGetTool
from tori_tui.tools.session_memory_set import SessionMemorySetTool
from tori_tui.tools.write_file import WriteFileTool
from tori_tui.workspace.checkpoints import Checkpoints
from tori_tui.workspace.descendants import Descendants
from tori_tui.workspace.jobs import Jobs
from tori_tui.workspace.ledger import FileLedger
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.programs import find_program
from tori_tui.workspace.search import Search
from tori_tui.workspace.shell_ahead import ShellAhead

if TYPE_CHECKING:
    from tori_tui.runtime.branches.exploring import Exploring


class Acting:
    """The parts of one session that act on its replies.

    Attributes:
        calls: Runs the calls of a reply.
        engine: Rewrites the view, and shortens results by what it shows already.
        written: Reads and writes calls as text.
        bash: Runs commands; checks go through it.
        scopes: Opens one for each call.
        gate: Says what may run; branches share its rules.
        descendants: Knows the processes of every command, those of branches too.
    """

    def __init__(self, ground: Ground, parts: RunnerParts) -> None:
        terms, world = ground.terms, ground.world
        recorder, asking = ground.recorder, ground.asking
        self.engine = ViewEngine(ground.meter.count_message)
        turns_limit = limits(ground.settings, ground.options).turns
        self.written = WrittenCalls(ground.identities.tools, turns_limit, lambda: f"call_{world.new_token()}")
        self.descendants = terms.descendants if terms else Descendants()
        self._jobs = Jobs(self.descendants)
        self._ahead = ShellAhead(ground.sandbox, self.descendants) if ground.sandbox is not None else None
        self._ground = ground
        self._parts = parts
        self._exploring: Exploring | None = None
        redactor = Redactor(secret_values(world.environ))
        readable = (ground.opened.directory, *(terms.readable if terms else ()))
        workspace = Workspace(ground.root, ground.options.cwd, readable, terms.copy_of if terms else None)
        tools = {
            tool.name: tool for tool in _make_tools(ground, workspace, self._jobs, self._ahead, redactor)
        }
        explore = ExploreTool(_refuse if terms else self._explore)
        adopt = AdoptTool(
            lambda: recorder.state,
            lambda: ground.going_back.checkpointing.checkpoints,
            ground.outputs,
            recorder.record,
        )
        tools |= {explore.name: explore, adopt.name: adopt}
        self.bash = tools["bash"]
        if terms:
            offered = {spec.name for spec in terms.tools}
            tools = {name: tool for name, tool in tools.items() if name in offered or tool is explore}
            gate = terms.gate.of_branch(recorder, asking, workspace, ground.identities)
        else:
            path = user_config_path(world.environ)
            keep = partial(save_rules, path)
            gate = Gate(recorder, asking, workspace, rules(ground.settings), ground.identities, keep)
        self.gate = gate
        scopes = self.scopes = Scopes(recorder, asking, redactor.redact, ground.going_back.checkpointing)
        checks = Checks(self.bash, gate, scopes, world.clock)
        restoring = Restoring(recorder, ground.going_back.rewinding, has_user=ground.options.has_user)
        self.calls = CallRunner(
            recorder=recorder,
            tools=tools,
            gate=gate,
            scopes=scopes,
            goal_calls=GoalCalls(recorder, tools["goal"], checks, scopes, restoring),
            closer=OpenCallCloser(workspace, ground.outputs),
            redactor=redactor,
            outputs=ground.outputs,
            worked_s=lambda: world.clock.monotonic() - asking.waited_s,
            door=self.engine.at_the_door,
        )
        self._recorder = recorder
        self._asking = asking
        self._identities = ground.identities
        self._final_checks = FinalChecks(recorder, checks, world.new_token)

    def new_ending(self, has_words: Callable[[], bool]) -> Ending:
        """Return the judge of one run."""
        return Ending(self._recorder, self._asking, self._final_checks, has_words, self._identities)

    async def _explore(self, asked: Exploration, scope: CallScope) -> ToolOutput:
        if self._exploring is None:
            self._exploring = branches_module().make_exploring(self._ground, self._parts, self)
        return await self._exploring.explore(asked, scope)

    async def close(self) -> None:
        """Stop every process that still runs."""
        if self._ahead is not None:
            await self._ahead.close()
        await self._jobs.close()
        if self._ground.sandbox is not None:
            self._ground.sandbox.close()


def make_rewinding(recorder: Recorder, opened: Opened, root: Path | None, world: Surroundings) -> Rewinding:
    """Make what saves the tree and goes back; without a root, as in a branch, it saves nothing."""
    checkpoints = Checkpoints.open(root, world.state_dir, world.environ) if root else None
    checkpointing = Checkpointing(recorder, opened.trace_id, checkpoints)
    return Rewinding(recorder, checkpointing, opened.trace_id, opened.directory / "outputs")


def make_acting(ground: Ground, parts: RunnerParts) -> Acting:
    """Make what acts on the replies of one session."""
    return Acting(ground, parts)


async def _refuse(asked: Exploration, scope: CallScope) -> ToolOutput:
    return ToolOutput("A branch cannot explore: follow your own direction.", is_error=True)


def _make_tools(
    ground: Ground, workspace: Workspace, jobs: Jobs, ahead: ShellAhead | None, redactor: Redactor
) -> tuple[Tool, ...]:
    outputs, environ = ground.outputs, ground.world.environ
    ledger = FileLedger()
    for entry in ground.recorder.state.log:
        ledger.learn(entry.message.details)
    search = Search(find_program("rg", environ, ground.root))
    return (
        GoalTool(),
        AskUserTool(),
        AbortTool(),
        RecallTool(outputs),
        MemoryAddTool(ground.memory.store(), ground.opened.trace_id, ground.world.clock.now, redactor.redact),
        MemorySearchTool(ground.memory.store()),
        SessionMemorySetTool(redactor.redact),
        SessionMemoryGetTool(),
        ReadFileTool(workspace, ledger),
        WriteFileTool(workspace, ledger, outputs),
        EditFileTool(workspace, ledger, outputs),
        GlobFilesTool(workspace, search),
        GrepFilesTool(workspace, search),
        Bash(
            workspace,
            jobs,
            outputs,
            base_environment=environ,
            redact=redactor.redact,
            sandbox=ground.sandbox,
            ahead=ahead,
        ),
        BashOutput(jobs),
        BashStop(jobs),
    )


__all__ = ["Acting", "make_acting"]
