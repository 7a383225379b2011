from __future__ import annotations

import subprocess
from pathlib import Path

from tests.e2e.bugfix import ANSWER, FIXED, RUN_TESTS, SUMMARY, TURNS, make_repository, mend
from tests.e2e.commands import tori
from tests.wire.answers import in_order
from tests.wire.server import WireServer
from tori_tui.domain.state import reduce_all
from tori_tui.trace.store import JsonlTraceStore


async def test_the_bug_is_mended_and_every_request_has_the_plan_last(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    async with WireServer(mend) as server:
        code, out, err = await tori(
            "run",
            "fix the failing test",
            "--mode",
            "auto",
            "--model",
            "openai-chat/m",
            cwd=root,
            url=server.openai_url,
        )
    assert (code, out.strip()) == (0, ANSWER), err
    assert (root / "calc" / "ops.py").read_text() == FIXED
    changed = subprocess.run(
        ["git", "diff", "--stat"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    assert "1 file changed, 1 insertion(+), 1 deletion(-)" in changed
    assert server.violations == []
    assert len(server.requests) == len(TURNS)
    for request in server.requests:
        assert request.system_texts[-1].startswith("## Current Plan")
        assert "fix the failing test" in request.user_texts[0]
    assert "[→] 1. Mend the failing test  ← current" in server.requests[1].system_texts[-1]
    assert f"[check: {RUN_TESTS}]" in server.requests[1].system_texts[-1]
    assert "[✓] 1. Mend the failing test" in server.requests[7].system_texts[-1]


async def test_with_profile_now_a_finished_goal_leaves_only_its_summary(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    (tmp_path / "config" / "tori").mkdir(parents=True)
    (tmp_path / "config" / "tori" / "config.toml").write_text('[context]\nprofile = "now"\n')
    async with WireServer(in_order(*TURNS)) as server:
        code, _, err = await tori(
            "run",
            "fix it",
            "--mode",
            "auto",
            "--model",
            "openai-chat/m",
            cwd=root,
            url=server.openai_url,
            XDG_CONFIG_HOME=str(tmp_path / "config"),
        )
    assert code == 0, err
    last = server.requests[-1]
    assert any('<folded goal="1"' in text and SUMMARY in text for text in last.user_texts)
    assert not any("def double" in text for text in last.results)
    assert last.user_texts[0].startswith("fix it\n")


async def test_folding_the_trace_gives_its_projections(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    async with WireServer(mend) as server:
        await tori(
            "run", "fix it", "--mode", "auto", "--model", "openai-chat/m", cwd=root, url=server.openai_url
        )
    (trace,) = [d for d in (root / ".trace").iterdir() if d.is_dir()]
    with JsonlTraceStore.open(trace, read_only=True) as store:
        state = reduce_all(store.records())
        assert store.faults == ()
    assert state.status == "done"
    assert not state.open_calls
    goal = state.tree.goals[0]
    assert goal.evidence is not None
    assert goal.evidence.exit_code == 0
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=root, capture_output=True, text=True, check=True
    )
    assert ".trace" not in status.stdout
