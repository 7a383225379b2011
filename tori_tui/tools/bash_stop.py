"""The tool `bash_stop`: ends a background job.

Must not touch anything that this session did not start.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tori_tui.domain.messages import JsonObject
from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import ToolSpec
from tori_tui.tools.base import CallScope, Effect, Preview, ToolOutput
from tori_tui.tools.bash_output import describe_state
from tori_tui.tools.parameters import parse, schema_of, text_of
from tori_tui.workspace.jobs import Jobs, JobUnknown

NAME: Final = "bash_stop"

TITLE_LIMIT_CHARS: Final = 80


class _Parameters(msgspec.Struct, frozen=True):
    job_id: str


class BashStop:
    """Stops a job with everything below it."""

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
        return Preview(one_line(f"{NAME} {asked.job_id}", TITLE_LIMIT_CHARS))

    async def run(self, arguments: JsonObject, scope: CallScope) -> ToolOutput:
        """Stop it and say how it was."""
        asked = parse(_Parameters, arguments, NAME)
        try:
            was_running = self._jobs.get(asked.job_id).state == "running"
            job = await self._jobs.stop(asked.job_id)
        except JobUnknown as error:
            return ToolOutput(str(error), is_error=True)
        said = (
            f"Job {job.id} is stopped." if was_running else f"Job {job.id} had ended: {describe_state(job)}."
        )
        return ToolOutput(said, details={"job_id": job.id, "command": job.command, "state": job.state})


__all__ = ["BashStop"]
