"""Between a call and its effect: the policy's verdict, the user's answer, the rules that it makes.

Must not know how a question is shown, nor run anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import ApprovalChanged
from tori_tui.domain.goals import Goal
from tori_tui.domain.messages import ToolCall
from tori_tui.permission.policy import PermissionQuestion, Verdict, decide
from tori_tui.permission.rules import Rule, rules_in_force
from tori_tui.runtime.asking import NOBODY, ApprovalRequest, Asking
from tori_tui.runtime.recorder import Recorder
from tori_tui.tools.base import Preview, Tool, ToolOutput
from tori_tui.workspace.paths import Workspace


class Gate:
    """Says of each call whether it may run, asking the user where the policy wants it."""

    def __init__(
        self, recorder: Recorder, asking: Asking, workspace: Workspace, rules: Sequence[Rule]
    ) -> None:
        self._recorder = recorder
        self._asking = asking
        self._workspace = workspace
        self._rules = list(rules)
        self._approved_checks: set[str] = set()

    async def refusal(self, call: ToolCall, tool: Tool, preview: Preview) -> ToolOutput | None:
        """Return what the model is told where the call may not run, or None where it may."""
        verdict = self._verdict(tool, preview)
        reason = await self._denied(call, tool, preview, verdict)
        return None if reason is None else ToolOutput(f"Not run: {reason}", is_error=True)

    async def check_refusal(
        self,
        command: str,
        by: Literal["model", "user"],
        call: ToolCall,
        tool: Tool,
        preview: Preview,
        goal: Goal | None,
    ) -> str | None:
        """Return why a check may not run, or None. The user's own and approved ones run free in `edit`."""
        is_approved = by == "user" or command in self._approved_checks
        verdict = self._verdict(tool, preview, is_approved_check=is_approved)
        denied = await self._denied(call, tool, preview, verdict)
        if denied is None:
            self._approved_checks.add(command)
        return denied

    def _verdict(self, tool: Tool, preview: Preview, *, is_approved_check: bool = False) -> Verdict:
        state = self._recorder.state
        question = PermissionQuestion(
            tool=tool.name,
            effect=tool.effect,
            root=str(self._workspace.root),
            cwd=str(self._workspace.cwd),
            command=preview.command,
            paths=tuple(self._resolved(path) for path in preview.paths),
            is_approved_check=is_approved_check,
        )
        mode = state.mode_in_force or "ask"
        return decide(mode, question, rules_in_force(self._rules, state.tree.current_id))

    def _resolved(self, path: str) -> str:
        try:
            return self._workspace.relative(self._workspace.resolve(path))
        except ToriError:
            # The tool itself says what is wrong with it.
            return path

    async def _denied(self, call: ToolCall, tool: Tool, preview: Preview, verdict: Verdict) -> str | None:
        if verdict.decision == "allow":
            return None
        if verdict.decision == "deny":
            return f"{verdict.reason}."
        request = ApprovalRequest(call.id, tool.name, preview.title, preview.detail, verdict.reason)
        answer = await self._asking.approval(request)
        if answer.state == "denied" and answer.reason == NOBODY:
            return f"it needs approval ({verdict.reason}), and {NOBODY}."
        if answer.state == "denied":
            said = f" ({answer.reason})" if answer.reason else ""
            return f"the user did not allow it{said}."
        self._remember(answer, tool, preview)
        return None

    def _remember(self, answer: ApprovalChanged, tool: Tool, preview: Preview) -> None:
        """Make the rule that an answer for longer than once asks for: exactly this command or path."""
        if answer.scope == "once":
            return
        pattern = preview.command or next((self._resolved(path) for path in preview.paths), "")
        goal_id = self._recorder.state.tree.current_id if answer.scope == "goal" else None
        self._rules.append(Rule("allow", tool.name, pattern, answer.scope, goal_id))


__all__ = ["Gate"]
