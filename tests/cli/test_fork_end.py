from __future__ import annotations

from pathlib import Path

import pytest

from tests.trace.records import session, write_lines
from tori_tui.cli.fork_end import fork_at_end
from tori_tui.trace.store import JsonlTraceStore


def test_a_fork_has_all_that_the_session_had_and_leaves_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    source = tmp_path / ".trace" / "t1"
    write_lines(source, session("Fix the parser"))
    before = (source / "messages.jsonl").read_bytes()
    name = fork_at_end(source, tmp_path)
    assert (source / "messages.jsonl").read_bytes() == before
    with (
        JsonlTraceStore.open(source, read_only=True) as old,
        JsonlTraceStore.open(tmp_path / ".trace" / name, read_only=True) as new,
    ):
        records = list(new.records())
        assert records[:-1] == list(old.records())
        assert records[-1].event.kind == "run"
        assert new.load().tree == old.load().tree
