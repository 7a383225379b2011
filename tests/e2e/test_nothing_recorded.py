from __future__ import annotations

from pathlib import Path

from tests.e2e.commands import tori


async def test_a_run_that_never_starts_leaves_no_session_behind(tmp_path: Path) -> None:
    code, _, err = await tori("run", "--mode", "auto", "--model", "nosuch", "hi", cwd=tmp_path)
    assert (code, "nosuch" in err) == (2, True)
    code, out, _ = await tori("list", cwd=tmp_path)
    assert (code, out) == (0, "")
    assert not list((tmp_path / ".trace").glob("*/messages.jsonl"))
