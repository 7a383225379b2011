"""What acts on a reply: tools, permission, checks, the judge of a run's end.

Imported while the first request is under way, or when its reply is there: it holds a third of what tori
itself must load. Must not be imported at the top of a module.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable

from tori_tui.bootstrap.ground import Ground
from tori_tui.config.translate import rules, secret_values
from tori_tui.context.engine import ViewEngine
from tori_tui.permission.redaction import Redactor
from tori_tui.runtime.calls import CallRunner
from tori_tui.runtime.checks import Checks
from tori_tui.runtime.ending import Ending
from tori_tui.runtime.final_checks import FinalChecks
from tori_tui.runtime.gate import Gate
from tori_tui.runtime.goal_calls import GoalCalls
from tori_tui.runtime.open_calls import OpenCallCloser, stop_left_over
from tori_tui.runtime.restoring import Restoring
from tori_tui.runtime.scope import Scopes
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
from tori_tui.workspace.descendants import Descendants
from tori_tui.workspace.jobs import Jobs
from tori_tui.workspace.ledger import FileLedger
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.search import Search


class Acting:
    """The parts of one session that act on its replies.

    Attributes:
        calls: Runs the calls of a reply.
        engine: Rewrites the view, and shortens results by what it shows already.
    """

    def __init__(self, ground: Ground) -> None:
        world, recorder, asking = ground.world, ground.recorder, ground.asking
        self.engine = ViewEngine(ground.meter.count_message)
        self._jobs = Jobs(Descendants())
        redactor = Redactor(secret_values(world.environ))
        workspace = Workspace(ground.root, ground.options.cwd, also_readable=(ground.opened.directory,))
        tools = {tool.name: tool for tool in _make_tools(ground, workspace, self._jobs, redactor)}
        gate = Gate(recorder, asking, workspace, rules(ground.settings))
        scopes = Scopes(recorder, asking, redactor.redact, ground.rewinding.checkpointing)
        checks = Checks(tools["bash"], gate, scopes, world.clock)
        restoring = Restoring(recorder, ground.rewinding, has_user=ground.options.has_user)
        self.calls = CallRunner(
            recorder=recorder,
            tools=tools,
            gate=gate,
            scopes=scopes,
            goal_calls=GoalCalls(recorder, tools["goal"], checks, scopes, restoring),
            closer=OpenCallCloser(workspace, ground.outputs),
            redactor=redactor,
            outputs=ground.outputs,
            clock=world.clock,
            door=self.engine.at_the_door,
        )
        self._recorder = recorder
        self._asking = asking
        self._final_checks = FinalChecks(recorder, checks, world.new_token)

    def new_ending(self, has_words: Callable[[], bool]) -> Ending:
        """Return the judge of one run."""
        return Ending(self._recorder, self._asking, self._final_checks, has_words)

    async def close(self) -> None:
        """Stop every process that still runs."""
        await self._jobs.close()


def make_acting(ground: Ground) -> Acting:
    """Make what acts on the replies of one session."""
    return Acting(ground)


def _make_tools(ground: Ground, workspace: Workspace, jobs: Jobs, redactor: Redactor) -> tuple[Tool, ...]:
    outputs, environ = ground.outputs, ground.world.environ
    ledger = FileLedger()
    for entry in ground.recorder.state.log:
        ledger.learn(entry.message.details)
    search = Search(shutil.which("rg", path=environ.get("PATH")))
    return (
        GoalTool(),
        AskUserTool(),
        AbortTool(),
        RecallTool(outputs),
        ReadFileTool(workspace, ledger),
        WriteFileTool(workspace, ledger, outputs),
        EditFileTool(workspace, ledger, outputs),
        GlobFilesTool(workspace, search),
        GrepFilesTool(workspace, search),
        Bash(workspace, jobs, outputs, base_environment=environ, redact=redactor.redact),
        BashOutput(jobs),
        BashStop(jobs),
    )


__all__ = ["Acting", "make_acting", "stop_left_over"]
