"""Traces that a release wrote, kept as they were: every later version must come to the same plan and view."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tori_tui.trace.projections import rebuild
from tori_tui.trace.store import JsonlTraceStore

GOLDEN = Path(__file__).with_name("golden")


@pytest.fixture(params=sorted(path.name for path in GOLDEN.iterdir()))
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """Return the kept trace and a copy of its records alone."""
    kept = GOLDEN / request.param
    copy = tmp_path / json.loads((kept / "meta.json").read_text())["id"]
    copy.mkdir()
    shutil.copy(kept / "messages.jsonl", copy)
    return kept, copy


def test_every_record_is_still_known(golden: tuple[Path, Path]) -> None:
    _, copy = golden
    with JsonlTraceStore.open(copy, read_only=True) as store:
        records = list(store.records())
        assert (store.faults, store.n_unknown) == ((), 0)
    assert [record.seq for record in records] == list(range(1, len(records) + 1))


def test_its_projections_come_out_as_they_were(golden: tuple[Path, Path]) -> None:
    kept, copy = golden
    state = rebuild(copy)
    assert state.status == "done"
    for name in ("goal.json", "meta.json"):
        before, now = (json.loads((folder / name).read_text()) for folder in (kept, copy))
        # A later version may add keys; what stood there stands there still.
        assert {key: now.get(key) for key in before} == before


def test_the_view_is_what_its_folds_say() -> None:
    with JsonlTraceStore.open(GOLDEN / "demo-0.1.0", read_only=True) as store:
        state = store.load()
    texts = [entry.message.text for entry in state.view(state.active_context).entries if entry.is_fold]
    assert len(texts) == 1
    assert texts[0].startswith('<folded goal="2.1" status="abandoned">')
    assert "Equal shares cannot add up to 1000" in texts[0]


def test_branches_are_what_their_records_say() -> None:
    with JsonlTraceStore.open(GOLDEN / "branches-0.1.0", read_only=True) as store:
        state = store.load()
    told = [(b.id, b.goal_id, b.direction, b.state, b.n_turns, b.is_adopted) for b in state.branches.values()]
    assert told == [
        ("1", "1", "plain way", "finished", 4, False),
        ("2", "1", "short way", "finished", 2, True),
        ("3", "2", "who uses it", "finished", 2, False),
    ]
