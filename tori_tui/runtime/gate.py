"""Between a call and its effect: the policy's verdict, the user's answer, the rules that it makes.

Must not know how a question is shown, nor run anything.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import ApprovalChanged, NoticeShown
from tori_tui.domain.goals import Goal
from tori_tui.domain.messages import ToolCall
from tori_tui.permission.policy import PermissionQuestion, Verdict, decide
from tori_tui.permission.rules import Rule, exact_rule, rule_text, rules_in_force
from tori_tui.runtime.asking import NOBODY, ApprovalRequest, Asking
from tori_tui.runtime.identities import Identities
from tori_tui.runtime.recorder import Recorder
from tori_tui.tools.base import Preview, Tool, ToolOutput
from tori_tui.workspace.paths import Workspace

SaveRules = Callable[[Sequence[str]], str]
"""Keeps rules for later sessions; returns what the user should be told if that failed."""


class Gate:
    """Says of each call whether it may run, asking the user where the policy wants it."""

    def __init__(
        self,
        recorder: Recorder,
        asking: Asking,
        workspace: Workspace,
        rules: Sequence[Rule],
        identities: Identities,
        save_rules: SaveRules = lambda rules: "",
    ) -> None:
        self._save_rules = save_rules
        self._recorder = recorder
        self._asking = asking
        self._workspace = workspace
        self._rules = list(rules)
        self._identities = identities
        self._approved_checks: set[str] = set()
        self._has_goal_rules = True

    def has_tool(self, name: str) -> bool:
        """Whether the agent that works has a tool of that name, if there is one."""
        return self._identities.has_tool(name)

    def of_branch(
        self, recorder: Recorder, asking: Asking, workspace: Workspace, identities: Identities
    ) -> Gate:
        """Return the gate of a branch: rules and approved checks are the same, also those still to come."""
        gate = Gate(recorder, asking, workspace, (), identities, self._save_rules)
        gate._rules, gate._approved_checks = self._rules, self._approved_checks
        # Its goals have numbers of their own, which mean nothing here.
        gate._has_goal_rules = False
        return gate

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
        whose = f"goal {goal.id}" if goal is not None else "the mission"
        asked = replace(preview, title=f"the check of {whose}: {preview.title}")
        denied = await self._denied(call, tool, asked, verdict)
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
            not_free=preview.not_free,
        )
        goal_id = state.tree.current_id if self._has_goal_rules else None
        mode = state.mode_in_force or "ask"
        return decide(mode, question, rules_in_force(self._rules, goal_id))

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
        rules = self._rules_for(tool, preview)
        request = ApprovalRequest(
            call.id, tool.name, preview.title, preview.detail, verdict.reason, tuple(map(rule_text, rules))
        )
        answer = await self._asking.approval(request)
        if answer.state == "denied" and answer.reason == NOBODY:
            return f"it needs approval ({verdict.reason}), and {NOBODY}."
        if answer.state == "denied":
            said = f" ({answer.reason})" if answer.reason else ""
            return f"the user did not allow it{said}."
        await self._remember(answer, rules)
        return None

    def _rules_for(self, tool: Tool, preview: Preview) -> tuple[Rule, ...]:
        """Return the rules that allow exactly this command, or these paths, and nothing else."""
        if preview.command is not None:
            return (exact_rule(tool.name, preview.command),)
        return tuple(exact_rule(tool.name, self._resolved(path)) for path in preview.paths)

    async def _remember(self, answer: ApprovalChanged, rules: Sequence[Rule]) -> None:
        """Make the rules that an answer for longer than once asks for.

        One for a goal holds while that goal is focused, and so ends with it; without a goal it is one for
        this once.
        """
        if answer.scope == "once":
            return
        goal_id = self._recorder.state.tree.current_id if answer.scope == "goal" else None
        if answer.scope == "goal" and (goal_id is None or not self._has_goal_rules):
            return
        self._rules.extend(replace(rule, scope=answer.scope, goal_id=goal_id) for rule in rules)
        if answer.scope == "always" and (told := await asyncio.to_thread(self._save_rules, answer.rules)):
            self._recorder.announce(NoticeShown(told, "warning"))


__all__ = ["Gate", "SaveRules"]
