"""The fixed parts of the system prompt: rules, surroundings, project instructions.

Must give the same bytes all through a session; what changes (the plan) stands behind them.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path

from tori_tui.domain.plan_text import one_line
from tori_tui.domain.request import SystemBlock


@dataclass(frozen=True, slots=True)
class Environment:
    """What the model is told of its surroundings, as they are when the session begins."""

    cwd: str
    system: str
    """Operating system and its release: `Linux 6.1`."""
    today: date
    """The day the session began; a clock time would change the prompt at every start."""
    git_branch: str = ""
    git_head: str = ""
    """Empty outside a repository or before the first commit."""
    work_tree: str = ""
    """Root of the work tree, where it is not the cwd."""


@dataclass(frozen=True, slots=True)
class SystemParts:
    """The texts of the system prompt before the plan."""

    rules: str
    environment: str
    instructions: str = ""
    """Already labelled as the content of project files; empty if there are none."""
    session_context: str = ""
    """What the session remembers for its contexts, already enclosed; empty if there is nothing."""

    @property
    def blocks(self) -> tuple[SystemBlock, ...]:
        """The parts that are there, in order."""
        named = (
            ("rules", self.rules),
            ("environment", self.environment),
            ("instructions", self.instructions),
            ("session-context", self.session_context),
        )
        return tuple(SystemBlock(name, text) for name, text in named if text)


@cache
def rules_text() -> str:
    """Return the rules by which the model works."""
    return (Path(__file__).with_name("prompts") / "system.md").read_text("utf-8").strip()


def environment_text(environment: Environment) -> str:
    """Return the block about the surroundings."""
    lines = ["# Environment", f"Working directory: {one_line(environment.cwd)}"]
    if environment.work_tree and environment.work_tree != environment.cwd:
        lines.append(f"Work tree: {one_line(environment.work_tree)}")
    lines.append(f"System: {one_line(environment.system)}")
    lines.append(f"Date: {environment.today.isoformat()}")
    lines.append(f"Git at the start: {_git(environment)}")
    return "\n".join(lines)


def _git(environment: Environment) -> str:
    if not (environment.git_branch or environment.git_head):
        return "no repository, or no commit yet"
    branch = one_line(environment.git_branch) or "detached"
    return f"{branch} at {environment.git_head[:10] or 'no commit yet'}"


def system_parts(environment: Environment, instructions: str = "") -> SystemParts:
    """Return the fixed parts of a session's system prompt."""
    return SystemParts(rules_text(), environment_text(environment), instructions)


__all__ = ["Environment", "SystemParts", "environment_text", "rules_text", "system_parts"]
