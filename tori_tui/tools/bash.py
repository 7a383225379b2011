"""The tool `bash`: one shell command, to its end or in the background.

Must not decide whether a command may run, nor let anything of it outlive the call or the session.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec

from tori_tui.domain.events import ProcessRef
from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.permission.command_class import classify_command
from tori_tui.permission.environment import child_environment
from tori_tui.permission.redaction import redact_file
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.condense import condense
from tori_tui.tools.output_excerpt import Excerpt, colors_of, excerpt, excerpt_of, whole_text
from tori_tui.tools.parameters import parse, schema_of, text_of
from tori_tui.tools.reached_paths import reached_paths
from tori_tui.tools.tree_programs import why_not_free
from tori_tui.trace.errors import TraceError
from tori_tui.trace.outputs import Outputs
from tori_tui.workspace.command_output import CommandOutput
from tori_tui.workspace.jobs import Jobs, JobsFull
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.processes import CommandResult, run_command
from tori_tui.workspace.sandbox.confinement import UNCONFINED, Sandbox, SandboxRefused
from tori_tui.workspace.shell_ahead import ShellAhead
from tori_tui.workspace.terminal_text import plain_text
from tori_tui.workspace.waiting_shell import CommandNotStarted, ShellTerms

NAME: Final = "bash"

TITLE_LIMIT_CHARS: Final = 100
DEFAULT_TIMEOUT_S: Final = 120
LONGEST_TIMEOUT_S: Final = 600

FIRST_LOOK_S: Final = 0.3
"""A job that fails at once says so in its own result."""

CONDENSED_IN_LOOP_CHARS: Final = 100_000
"""Takes about 10 ms; longer ones are looked through in a thread."""

REDACTED_IN_LOOP_BYTES: Final = 200_000
"""Larger files are searched for keys in a thread."""

_CHANGES_FOLDER: Final = re.compile(r"(?:^|[\s;&|(])(?:cd|pushd|popd)(?:$|[\s;&|)])")


class _Parameters(msgspec.Struct, frozen=True):
    command: str
    timeout_s: Annotated[
        float | None, msgspec.Meta(description=f"default {DEFAULT_TIMEOUT_S}, max {LONGEST_TIMEOUT_S}")
    ] = None
    background: Annotated[bool, msgspec.Meta(description="read it with bash_output")] = False


class Bash:
    """Runs commands in the working directory.

    Args:
        workspace: Says where.
        jobs: Takes the background ones; finds the processes of all.
        outputs: Where the whole output is kept.
        base_environment: The user's environment.
        secret_names: Variables that hold keys and are handed to no command.
        redact: Takes keys out of a kept output.
        sandbox: Where commands are confined, if they are.
        ahead: Keeps a shell ready there.
    """

    name: Final = NAME
    effect: Effect = "execute"

    def __init__(
        self,
        workspace: Workspace,
        jobs: Jobs,
        outputs: Outputs,
        *,
        base_environment: Mapping[str, str],
        secret_names: Iterable[str] = (),
        redact: Callable[[str], str] | None = None,
        sandbox: Sandbox | None = None,
        ahead: ShellAhead | None = None,
    ) -> None:
        self._workspace = workspace
        self._jobs = jobs
        self._outputs = outputs
        self._environment = child_environment(base_environment, secret_names)
        self._redact = redact
        self._sandbox = sandbox
        self._ahead = ahead

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Show the whole command and where it runs."""
        asked = parse(_Parameters, arguments, NAME)
        title = one_line(f"{NAME} {asked.command}", TITLE_LIMIT_CHARS)
        how = " in the background" if asked.background else ""
        detail = f"{asked.command}\n\n(runs{how} in {self._workspace.cwd})"
        found = classify_command(asked.command)
        reached = reached_paths(found, self._workspace.cwd)
        not_free = why_not_free(found, self._workspace.root, self._workspace.cwd, self._environment)
        return Preview(title, detail, command=asked.command, paths=reached, not_free=not_free)

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Run the command. Its own exit code is no failure of the call."""
        asked = parse(_Parameters, arguments, NAME)
        if not asked.command.strip():
            return ToolOutput("The command is empty: nothing was run.", is_error=True)
        if asked.background:
            output = CommandOutput.open(self._new_file(scope.call_id))
            return await self._run_in_background(asked, scope, output)
        return await self._jobs.in_foreground(lambda: self._run_in_foreground(asked, scope))

    async def _run_in_foreground(self, asked: _Parameters, scope: CallScope) -> ToolOutput:
        with CommandOutput.open(self._new_file(scope.call_id)) as output:
            try:
                return await self._run_to_end(asked, scope, output)
            except asyncio.CancelledError:
                await self._without_keys(output)
                raise

    async def _run_to_end(self, asked: _Parameters, scope: CallScope, output: CommandOutput) -> ToolOutput:
        async def on_started(ref: ProcessRef) -> None:
            await scope.started(process=ref, output=output.name)

        timeout_s = min(max(asked.timeout_s or DEFAULT_TIMEOUT_S, 1.0), LONGEST_TIMEOUT_S)
        try:
            result = await run_command(
                asked.command,
                self._terms(),
                call_id=scope.call_id,
                output=output,
                timeout_s=timeout_s,
                descendants=self._jobs.descendants,
                on_started=on_started,
                on_output=lambda text: scope.progress(plain_text(text)),
                ahead=self._ahead,
            )
        except (CommandNotStarted, SandboxRefused) as error:
            _remove(output.path)
            return ToolOutput(str(error), is_error=True)
        return await self._told(asked.command, result, output, timeout_s)

    async def _told(
        self,
        command: str,
        result: CommandResult,
        output: CommandOutput,
        timeout_s: float,
    ) -> ToolOutput:
        shown = await _shown(command, output, result.output_bytes)
        notes = [_ending(result, timeout_s)]
        if result.stopped:
            names = ", ".join(dict.fromkeys(result.stopped))
            notes.append(
                f"[stopped, because the command had left it running: {names}; use background for that]"
            )
        if _CHANGES_FOLDER.search(command):
            notes.append(f"[the next command starts in {self._workspace.cwd} again]")
        notes += [f"[the sandbox {told}]" for told in self._sandbox.mend()] if self._sandbox else []
        if output.path and _has_no_room(output):
            notes.append("[the disk is full: output may be missing]")
        body = shown.text if shown.text.strip() else "(no output)\n"
        line_end = "" if body.endswith("\n") else "\n"
        text = body + line_end + "\n".join(notes)
        # Places in the text mean nothing where a key will be taken out of it.
        has_keys = self._redact is not None and self._redact(text) != text
        colors = {} if has_keys else colors_of(output, 0, result.output_bytes, text)
        await self._without_keys(output)
        return ToolOutput(
            text,
            is_error=result.end != "exited" or bool(result.signal),
            details={
                "command": command,
                "exit_code": result.exit_code,
                "duration_s": round(result.duration_s, 3),
                "output_bytes": result.output_bytes,
                "timed_out": result.end == "timed_out",
                "cwd": str(self._workspace.cwd),
                **colors,
            },
            full=output.name if shown.is_cut else None,
        )

    async def _run_in_background(
        self, asked: _Parameters, scope: CallScope, output: CommandOutput
    ) -> ToolOutput:
        async def on_started(ref: ProcessRef) -> None:
            await scope.started(process=ref, output=output.name)

        try:
            job = await self._jobs.start(
                asked.command,
                self._terms(),
                call_id=scope.call_id,
                output=output,
                on_started=on_started,
                on_ended=lambda: self._without_keys(output),
            )
        except (CommandNotStarted, SandboxRefused, JobsFull) as error:
            output.close()
            _remove(output.path)
            return ToolOutput(str(error), is_error=True)
        except BaseException:
            output.close()
            raise
        await job.wait(FIRST_LOOK_S)
        state = "ended at once" if job.state != "running" else "runs"
        return ToolOutput(
            f'Job {job.id} {state}. Read it with bash_output(job_id="{job.id}").',
            details={"command": asked.command, "job_id": job.id, "cwd": str(self._workspace.cwd)},
        )

    def _terms(self) -> ShellTerms:
        cwd = self._workspace.cwd
        confinement = UNCONFINED if self._sandbox is None else self._sandbox.confine(cwd)
        return ShellTerms(cwd, self._environment, confinement)

    def _new_file(self, call_id: str) -> Path | None:
        try:
            return self._outputs.open_new(call_id, ".log")[1]
        except TraceError:
            # No room for it: the command runs all the same and writes into memory.
            return None

    async def _without_keys(self, output: CommandOutput) -> None:
        """Take keys out of the kept file; a handle that is open on it still sees the old bytes."""
        if output.path is None or self._redact is None:
            return
        if output.size_bytes > REDACTED_IN_LOOP_BYTES:
            await asyncio.to_thread(redact_file, output.path, self._redact)
        else:
            redact_file(output.path, self._redact)


async def _shown(command: str, output: CommandOutput, end: int) -> Excerpt:
    """Return what the model sees of an output: without what went well, where that is known and shorter."""
    usual = excerpt(output, 0, end, output.name)
    text = whole_text(output, end) if output.name and end else None
    if text is None:
        return usual
    if len(text) > CONDENSED_IN_LOOP_CHARS:
        short = await asyncio.to_thread(condense, command, text)
    else:
        short = condense(command, text)
    if short is None:
        return usual
    left = excerpt_of(short.text.encode(), output.name).text.removesuffix("\n")
    note = (
        f"[{short.n_left_out} lines of {', '.join(short.tools)} that tell of no failure left out; "
        f"the whole is in outputs/{output.name}]"
    )
    told = f"{left}\n{note}\n"
    return Excerpt(told, is_cut=True) if len(told) < len(usual.text) else usual


def _ending(result: CommandResult, timeout_s: float) -> str:
    match result.end:
        case "timed_out":
            return (
                f"[timed out after {timeout_s:g} s and was stopped; "
                f"give timeout_s up to {LONGEST_TIMEOUT_S}, or run it in the background]"
            )
        case "too_much_output":
            return f"[stopped: it printed {result.output_bytes:,} bytes and did not end]"
        case "exited":
            return f"[killed by {result.signal}]" if result.signal else f"[exit {result.exit_code}]"


def _has_no_room(output: CommandOutput) -> bool:
    return os.fstatvfs(output.handle).f_bavail == 0


def _remove(path: Path | None) -> None:
    if path is not None:
        path.unlink(missing_ok=True)


__all__ = ["Bash"]
