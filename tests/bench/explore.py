"""How much longer four branches take than one: ten turns each, against a model that takes 200 ms a reply.

The explore call's own time, from the trace of a real `tori run`. Must not do work in the server that grows
with the history.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure
from tests.branches.kit import SENT_OUT, direction_of, repository
from tests.e2e.commands import tori
from tests.fakes.session import records_of
from tests.wire.answers import Answer, WireCall, WireReply, WireRequest
from tests.wire.server import WireServer
from tori_tui.domain.state import reduce_all

REPLY_S: Final = 0.2
N_TURNS: Final = 10


def measure() -> list[Figure]:
    """Run one branch, four at once, and four one after the other."""
    one_s, four_s, in_a_row_s = asyncio.run(_measured())
    note = f"{one_s:.2f} s one, {four_s:.2f} s four, {in_a_row_s:.2f} s with max_parallel = 1"
    return [Figure("four branches of ten turns / one", four_s / one_s, " ×", 1.4, note)]


async def _measured() -> tuple[float, float, float]:
    with tempfile.TemporaryDirectory() as folder:
        root = repository(Path(folder) / "work", {"a.txt": "a\n"})
        async with WireServer(_answer) as server:
            one_s = await _explored_s(root, 1, server.openai_url)
            four_s = await _explored_s(root, 4, server.openai_url)
            return one_s, four_s, await _explored_s(root, 4, server.openai_url, max_parallel=1)


def _answer(request: WireRequest) -> Answer:
    said = request.user_texts
    if not any(SENT_OUT in text for text in said):
        if request.results:
            return WireReply("Done.")
        wanted = [f"direction {n}" for n in range(1, int(said[-1].split()[-1]) + 1)]
        return WireReply("", (WireCall("explore", {"branches": wanted}),))
    if len(request.results) < N_TURNS - 1:
        call = WireCall("glob_files", {"pattern": f"*{len(request.results)}"})
        return WireReply("", (call,), first_delay_s=REPLY_S)
    return WireReply(f"Followed {direction_of(request)}.", first_delay_s=REPLY_S)


async def _explored_s(root: Path, n_branches: int, url: str, *, max_parallel: int = 4) -> float:
    config = root.parent / f"config-{n_branches}-{max_parallel}"
    (config / "tori").mkdir(parents=True)
    (config / "tori" / "config.toml").write_text(f"[explore]\nmax_parallel = {max_parallel}\n")
    traces = root.parent / f"traces-{n_branches}-{max_parallel}"
    command = ("run", f"explore {n_branches}", "--mode", "auto", "--trace-dir", str(traces))
    code, _, err = await tori(*command, cwd=root, url=url, XDG_CONFIG_HOME=str(config))
    if code:
        raise RuntimeError(f"tori ended with {code}: {err[-2_000:]}")
    (trace,) = [path.parent for path in traces.glob("*/messages.jsonl")]
    state = reduce_all(records_of(trace))
    if any(branch.n_turns != N_TURNS for branch in state.branches.values()):
        raise RuntimeError("a branch did not take its ten turns")
    (result,) = [entry.message for entry in state.log if entry.message.name == "explore"]
    return result.duration_s or 0.0


__all__ = ["measure"]
