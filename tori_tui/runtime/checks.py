"""Runs check commands under the permission policy; only exit 0 is green.

Must not change the plan; it brings evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from tori_tui.domain.goals import Evidence, Goal
from tori_tui.domain.messages import ToolCall
from tori_tui.runtime.clock import Clock
from tori_tui.runtime.gate import Gate
from tori_tui.runtime.scope import Scopes
from tori_tui.tools.base import Tool

CHECK_TIMEOUT_S: Final = 600
"""The longest that a command may take (DESIGN §11): a check is often a whole test suite."""

TAIL_CHARS: Final = 1_500
"""Evidence is read in `tori show` and in the tree; the end of the output says what failed."""


@dataclass(frozen=True, slots=True)
class CheckOutcome:
    """What a check came to."""

    text: str
    """For the model: command, exit code and output, or why it could not run."""
    evidence: Evidence | None
    """None where it could not run, which counts as red."""

    @property
    def is_red(self) -> bool:
        """Whether anything but exit 0 came of it."""
        return self.evidence is None or self.evidence.exit_code != 0


class Checks:
    """Runs checks through the bash tool, so that they live under its rules."""

    def __init__(self, bash: Tool, gate: Gate, scopes: Scopes, clock: Clock) -> None:
        self._bash = bash
        self._gate = gate
        self._scopes = scopes
        self._clock = clock

    async def run(
        self, command: str, by: Literal["model", "user"], call: ToolCall, goal: Goal | None
    ) -> CheckOutcome:
        """Run the command for a call (a goal call, or the end of the mission)."""
        arguments = {"command": command, "timeout_s": CHECK_TIMEOUT_S}
        preview = await self._bash.preview(arguments)
        denied = await self._gate.check_refusal(command, by, call, self._bash, preview, goal)
        if denied is not None:
            return CheckOutcome(f"The check `{command}` may not run: {denied}", None)
        await self._scopes.checkpointing.before("check")
        began_s = self._clock.monotonic()
        try:
            output = await self._bash.run(arguments, self._scopes.open(call))
        finally:
            self._scopes.checkpointing.after("check")
        # Here, since evidence and refusals become records that pass no other redaction.
        text = self._scopes.redact(output.text)
        exit_code = output.details.get("exit_code")
        if not isinstance(exit_code, int):
            return CheckOutcome(f"The check `{command}` did not end.\n{text}", None)
        duration_s = round(self._clock.monotonic() - began_s, 3)
        evidence = Evidence(command, exit_code, text[-TAIL_CHARS:], duration_s)
        return CheckOutcome(f"$ {command}\n{text}", evidence)


__all__ = ["CHECK_TIMEOUT_S", "CheckOutcome", "Checks"]
