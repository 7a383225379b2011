"""The tool `bash_output`: what background jobs printed and how they are.

Must not start or stop anything.
"""

from __future__ import annotations

import time
from typing import Annotated, Final

import msgspec

from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.output_excerpt import colors_of, excerpt, whole_characters
from tori_tui.tools.parameters import parse, schema_of, text_of
from tori_tui.workspace.jobs import Job, Jobs, JobUnknown

NAME: Final = "bash_output"

LONGEST_WAIT_S: Final = 120
COMMAND_LIMIT_CHARS: Final = 80


class _Parameters(msgspec.Struct, frozen=True):
    job_id: str | None = None
    wait_s: Annotated[float | None, msgspec.Meta(description=f"wait for its end, max {LONGEST_WAIT_S}")] = (
        None
    )


class BashOutput:
    """Reads what is new of a job, or lists the jobs."""

    name: Final = NAME
    effect: Effect = "none"

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs

    @property
    def spec(self) -> ToolSpec:
        """What the model is told."""
        return ToolSpec(NAME, text_of(NAME), schema_of(_Parameters))

    async def preview(self, arguments: JsonObject) -> Preview:
        """Name the job."""
        asked = parse(_Parameters, arguments, NAME)
        return Preview(one_line(f"{NAME} {asked.job_id or ''}".strip(), COMMAND_LIMIT_CHARS))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Return what came since the last time."""
        asked = parse(_Parameters, arguments, NAME)
        if not asked.job_id:
            return ToolOutput("\n".join(map(_line, self._jobs.all())) or "There are no background jobs.")
        try:
            job = self._jobs.get(asked.job_id)
        except JobUnknown as error:
            return ToolOutput(str(error), is_error=True)
        await job.wait(min(asked.wait_s or 0.0, LONGEST_WAIT_S))
        return _new_output(job)


def describe_state(job: Job) -> str:
    """Say in a few words how a job is."""
    match job.state, job.result:
        case "ended", result if result is not None:
            if result.end == "too_much_output":
                return f"stopped: it printed {result.output_bytes:,} bytes and did not end"
            return f"killed by {result.signal}" if result.signal else f"exit {result.exit_code}"
        case "failed", _:
            return f"failed inside tori: {job.task.exception()}"
        case state, _:
            return state


def _line(job: Job) -> str:
    unread = job.output.size_bytes - job.n_read_bytes
    age = f", started {time.monotonic() - job.started_s:.0f} s ago" if job.state == "running" else ""
    command = one_line(job.command, COMMAND_LIMIT_CHARS)
    return f"{job.id} [{describe_state(job)}{age}, {unread:,} bytes unread] {command}"


def _new_output(job: Job) -> ToolOutput:
    is_running = job.state == "running"
    end = job.output.size_bytes
    start = min(job.n_read_bytes, end)
    if is_running:
        last = job.output.read(max(start, end - 4), min(4, end - start))
        end -= len(last) - whole_characters(last)
    shown = excerpt(job.output, start, end, job.output.name)
    job.n_read_bytes = end
    body = shown.text if shown.text.strip() else "(nothing new)\n" if is_running else "(no more output)\n"
    line_end = "" if body.endswith("\n") else "\n"
    exit_code = job.result.exit_code if job.result else None
    text = f"{body}{line_end}[{job.id} {describe_state(job)}]"
    return ToolOutput(
        text,
        details={
            "job_id": job.id,
            "command": job.command,
            "state": job.state,
            "exit_code": exit_code,
            **colors_of(job.output, start, end, text),
        },
        full=job.output.name if shown.is_cut else None,
    )


__all__ = ["BashOutput", "describe_state"]
