from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.bugfix import make_repository
from tests.e2e.commands import tori
from tests.wire.answers import Answer, WireCall, WireReply, WireRequest
from tests.wire.server import WireServer
from tori_tui.context.agents import built_in_agents

MODELS = {
    "chat": "openai-chat/m",
    "responses": "openai/gpt-6.1-sol",
    "messages": "anthropic/claude-sonnet-5-5",
}
RULES = {agent.name: agent.prompt for agent in built_in_agents()}


def reviewed() -> Callable[[WireRequest], Answer]:
    """Build plans a goal for the reviewer; each has its own history, by which it is told apart."""
    build = (
        WireReply("", (WireCall("goal", {"add": ["Look", "@review the code"], "focus": "1"}),)),
        WireReply("", (WireCall("session_memory_set", {"key": "style", "value": "no <b>classes</b>"}),)),
        WireReply(
            "BUILD WAS HERE",
            (
                WireCall("read_file", {"path": "calc/ops.py"}),
                WireCall("goal", {"done": "looked", "focus": "2"}),
            ),
        ),
        WireReply("One finding: calc/ops.py:2."),
    )
    review = (
        WireReply("REVIEW WAS HERE", (WireCall("write_file", {"path": "bad.txt", "content": "x"}),)),
        WireReply("", (WireCall("bash", {"command": "echo x > bad.txt"}),)),
        WireReply("", (WireCall("goal", {"done": "calc/ops.py:2 subtracts"}),)),
    )

    def script(request: WireRequest) -> Answer:
        replies = review if agent_of(request) == "review" else build
        return replies[request.n_replies]

    return script


def agent_of(request: WireRequest) -> str:
    system = "\n".join(request.system_texts)
    present = [name for name, rules in RULES.items() if rules.splitlines()[0] in system]
    assert len(present) == 1, present
    return present[0]


@pytest.mark.parametrize("protocol", MODELS)
async def test_goal_for_the_reviewer_over_every_protocol(tmp_path: Path, protocol: str) -> None:
    root = make_repository(tmp_path / "project")
    async with WireServer(reviewed()) as server:
        code, out, err = await tori(
            *("run", "look at the code", "--mode", "auto", "--model", MODELS[protocol]),
            cwd=root,
            url=server.openai_url,
            ANTHROPIC_BASE_URL=server.url,
            ANTHROPIC_API_KEY="test-key",
        )
    assert (code, out.strip()) == (0, "One finding: calc/ops.py:2."), err
    assert server.violations == []
    assert [agent_of(request) for request in server.requests] == ["build"] * 3 + ["review"] * 3 + ["build"]
    bodies = [str(request.body) for request in server.requests]
    assert not any("BUILD WAS HERE" in body or "def add" in body for body in bodies[3:6])
    assert "REVIEW WAS HERE" in bodies[5]
    assert not any("REVIEW WAS HERE" in body or "bad.txt" in body for body in (*bodies[:3], bodies[6]))
    assert "calc/ops.py:2 subtracts" in bodies[6]
    assert "no &lt;b&gt;classes&lt;/b&gt;" in "\n".join(server.requests[3].system_texts)
    assert not (root / "bad.txt").exists()
