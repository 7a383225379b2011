from __future__ import annotations

import pytest

from tests.fakes.scope import FakeScope
from tori_tui.tools.abort import AbortTool
from tori_tui.tools.base import ArgumentsInvalid


async def test_reason_is_handed_to_the_runner() -> None:
    output = await AbortTool().run({"reason": " the repository is empty "}, FakeScope())
    assert output.abort_reason == "the repository is empty"


async def test_empty_reason_ends_nothing() -> None:
    output = await AbortTool().run({"reason": ""}, FakeScope())
    assert output.is_error
    assert output.abort_reason is None


async def test_missing_reason_is_named() -> None:
    with pytest.raises(ArgumentsInvalid, match="reason"):
        await AbortTool().run({}, FakeScope())


async def test_preview_is_one_line() -> None:
    assert (await AbortTool().preview({"reason": "a\nb"})).title == "abort a b"
