from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.commands import tori
from tests.wire.answers import Answer, WireCall, WireReply, WireRequest
from tests.wire.server import WireServer
from tori_tui.domain.messages import Message
from tori_tui.trace.store import JsonlTraceStore
from tori_tui.workspace.process_table import all_pids, read_variable

pytestmark = pytest.mark.needs("bwrap")

SCRIPT = "awk '{ print $22 }' /proc/1/stat; cat /proc/uptime; echo x > .git/config"
"""Prints when the first process of this world began, in ticks of 10 ms, and the time now in seconds."""

THINKS_S = 0.8

REPLIES = (
    WireReply("", (WireCall("bash", {"command": "sh look.sh 1"}),)),
    WireReply("", (WireCall("bash", {"command": "sh look.sh 2"}),), first_delay_s=THINKS_S),
    WireReply("", (WireCall("bash", {"command": "sh look.sh 3"}),), first_delay_s=THINKS_S),
    WireReply("Done.", first_delay_s=THINKS_S),
)


def age_s(told: str) -> float:
    began, now = told.splitlines()[:2]
    return float(now.split()[0]) - int(began) / 100


async def test_from_the_second_command_on_a_world_stands_ready(tmp_path: Path) -> None:
    root = tmp_path / "project"
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / ".git" / "config").write_text("[core]\n")
    (root / "look.sh").write_text(SCRIPT)
    n_asked = 0

    def answer(request: WireRequest) -> Answer:
        nonlocal n_asked
        n_asked += 1
        return REPLIES[n_asked - 1]

    token = f"ahead-{tmp_path.name}-{id(root)}"
    async with WireServer(answer) as server:
        code, out, err = await tori(
            *("run", "--mode", "auto", "--sandbox", "--model", "openai-chat/m", "go"),
            cwd=root,
            url=server.openai_url,
            TORI_TEST=token,
        )
    assert (code, out.strip()) == (0, "Done."), err
    (trace,) = (root / ".trace").glob("*/messages.jsonl")
    told = [str(m.content) for m in messages(trace.parent) if m.role == "tool"]
    ages = [age_s(text) for text in told]
    assert ages[0] < THINKS_S / 2
    assert min(ages[1:]) > THINKS_S / 2
    assert all("Read-only" in text for text in told)
    assert (root / ".git" / "config").read_text() == "[core]\n"
    assert [pid for pid in all_pids() if read_variable(pid, "TORI_TEST") == token] == []


def messages(directory: Path) -> list[Message]:
    with JsonlTraceStore.open(directory, read_only=True) as store:
        return [entry.message for entry in store.load().log]
