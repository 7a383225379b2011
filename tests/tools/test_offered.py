from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes.provider import ScriptedProvider, ScriptedReply
from tests.fakes.session import driven, scripted
from tests.tools.offered import OFFERED, offered_text, specs
from tori_tui.tools.offered import ORDER, offered_tools


def test_what_is_offered_is_what_the_tools_say_of_themselves() -> None:
    assert OFFERED.read_text() == offered_text(), "python -m tests.tools.offered"


def test_every_tool_is_offered_once_and_in_order() -> None:
    assert [spec.name for spec in offered_tools()] == list(ORDER)
    assert set(specs()) == set(ORDER)


@pytest.mark.asyncio
async def test_every_offered_tool_is_there_to_be_called(tmp_path: Path) -> None:
    calls = tuple(scripted(name, {}) for name in ORDER if name not in ("goal", "abort", "ask_user"))
    provider = ScriptedProvider([ScriptedReply("", calls), ScriptedReply("Done.")])
    async with driven(provider, tmp_path) as driver:
        state = await driver.run("call them all")
    results = [entry.message.text for entry in state.log if entry.message.role == "tool"]
    assert len(results) == len(calls)
    assert not [text for text in results if "no tool" in text.lower()]
