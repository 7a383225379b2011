"""The agents that come with tori beside the default one, and the rules that every agent gets.

Must not read anything but tori's own prompts; the user's agents come through `config`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from tori_tui.context.system_prompt import rules_text
from tori_tui.domain.agents import BUILD, Agent

READING_TOOLS: Final = ("read_file", "glob_files", "grep_files", "bash", "memory_search")
"""Of `bash` only commands that read: the mode sees to that."""


@cache
def built_in_agents() -> tuple[Agent, ...]:
    """Return tori's own agents, the default one first."""
    return (
        Agent(BUILD, "does the work", rules_text()),
        Agent(
            "plan",
            "reads and lays the work out as goals; you approve them",
            agent_rules(_text("plan")),
            READING_TOOLS,
            "plan",
            ending="plan",
        ),
        Agent(
            "review",
            "reads the changes and tells what is wrong with them",
            agent_rules(_text("review")),
            READING_TOOLS,
            "plan",
            ending="answer",
        ),
    )


def agent_rules(prompt: str) -> str:
    """Return an agent's own prompt with what every agent must know of tori behind it."""
    return f"{prompt.strip()}\n\n{_text('agent')}"


def _text(name: str) -> str:
    return (Path(__file__).with_name("prompts") / f"{name}.md").read_text("utf-8").strip()


__all__ = ["agent_rules", "built_in_agents"]
