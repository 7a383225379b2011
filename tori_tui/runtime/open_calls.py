"""Answers calls that have no result: after an interrupt, a crash or a restart.

Must not run a call again; it finds out what became of it, from the records and the disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Final, Literal, Protocol, cast

from tori_tui.domain.branches import Branch, branches_of_call
from tori_tui.domain.events import CallStarted
from tori_tui.domain.ids import BranchId, CallId
from tori_tui.domain.state import OpenCall, SessionState
from tori_tui.tools.base import ToolOutput
from tori_tui.trace.outputs import Outputs
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.recovery import outcome_of
from tori_tui.workspace.stopping import kill_left_over
from tori_tui.workspace.terminal_text import plain_text

SHOWN_OUTPUT_BYTES: Final = 8_000
"""As much of an interrupted command's output as a finished one shows."""

Cause = Literal["interrupted", "restarted", "steered", "limit", "forked"]

_BECAUSE: Final[dict[Cause, str]] = {
    "interrupted": "the user interrupted the run",
    "restarted": "tori was stopped and started again",
    "steered": "the user's comment stopped this work",
    "limit": "the time of the run was up",
    "forked": "this session begins before that call",
}


async def stop_left_over(commands: Iterable[CallStarted]) -> bool:
    """Stop what still runs of the commands of a killed session, and return whether anything did.

    Goes by process group, start time and the marker in the environment, so that a process that has
    only the number of an old one is left alone.
    """
    return await kill_left_over({c.process: c.call_id for c in commands if c.process is not None})


class OpenCallCloser:
    """Finds the right answer for a call that was cut off."""

    def __init__(self, workspace: Workspace, outputs: Outputs) -> None:
        self._workspace = workspace
        self._outputs = outputs

    def answer(self, state: SessionState, call: OpenCall, cause: Cause) -> ToolOutput:
        """Say what became of the call: not run, done, not applied, or perhaps in effect."""
        because = _BECAUSE[cause]
        if branches_of_call(state.branches, call.call.id):
            return _report().explored(state.branches, call.call.id, cut=because)
        if call.plan is not None and call.plan.refused is None:
            return ToolOutput("Done: the plan was changed; it stands in the plan block.")
        started = call.started
        if started is None:
            return ToolOutput(f"Not run: {because}.", is_error=True)
        if started.files:
            return self._file_answer(started, because)
        return self._command_answer(started, because)

    def _file_answer(self, started: CallStarted, because: str) -> ToolOutput:
        names = ", ".join(intent.path for intent in started.files)
        match outcome_of(self._workspace.root, started.files):
            case "done":
                files = {intent.path: intent.after_sha256 for intent in started.files}
                path, sha256 = next(iter(files.items()))
                details = {"changed_paths": list(files), "path": path, "sha256": sha256}
                return ToolOutput(f"Done: {names} was written before {because}.", details=details)
            case "not_applied":
                return ToolOutput(f"Not applied: {because}; {names} is as it was before.", is_error=True)
            case "changed":
                return ToolOutput(
                    f"{names} is neither as before nor as intended ({because}). Read it again first.",
                    is_error=True,
                )

    def _command_answer(self, started: CallStarted, because: str) -> ToolOutput:
        text = f"Interrupted, may have had effects: {because} while it ran."
        if started.output is None:
            return ToolOutput(text, is_error=True)
        try:
            so_far = plain_text(self._outputs.read_text(started.output, limit_bytes=SHOWN_OUTPUT_BYTES))
        except OSError:
            so_far = ""
        if so_far.strip():
            text += f"\nOutput so far:\n{so_far}"
        return ToolOutput(text, is_error=True, full=started.output)


class _Report(Protocol):
    """What is used of the module that tells what branches came to."""

    def explored(self, branches: Mapping[BranchId, Branch], call_id: CallId, *, cut: str) -> ToolOutput: ...


@cache
def _report() -> _Report:
    """Load that module at its first use: few sessions have branches."""
    return cast(_Report, import_module("tori_tui.runtime.branches.report"))


__all__ = ["Cause", "OpenCallCloser", "stop_left_over"]
