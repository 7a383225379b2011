"""How long a run takes beside a classifier that answers after five seconds, compared with none.

Must not go through a server: what is measured is whether a run waits, not how fast a request is.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.bench.figures import Figure
from tests.fakes.session import WITHOUT_CLASSIFIER, driven, reply
from tests.runtime.test_steering import CLASSIFIED, ModelWithClassifier
from tori_tui.config import Settings
from tori_tui.domain.commands import AddComment, SubmitPrompt
from tori_tui.domain.events import CommentRouted, ToolRunStarted
from tori_tui.domain.ids import CommentId

DELAY_S: Final = 5.0
N_TURNS: Final = 30
TURN_S: Final = 0.2
"""The run is longer than the delay, so that the verdict still finds it."""


def measure() -> list[Figure]:
    """Run the same script twice and return the ratio of the times."""
    without_s, _ = asyncio.run(_run(WITHOUT_CLASSIFIER))
    with_s, decided_by = asyncio.run(_run(CLASSIFIED))
    note = f"{with_s:.2f} s, {without_s:.2f} s without; decided by the {decided_by}"
    return [Figure("a run beside a classifier of 5 s / without", with_s / without_s, " ×", 1.05, note)]


async def _run(settings: Settings) -> tuple[float, str]:
    script = [
        reply("", goal={"add": "Work, Tell", "focus": "1"}),
        *(reply("", bash={"command": f"sleep {TURN_S}; echo {n}"}) for n in range(N_TURNS)),
        reply("", goal={"done": "worked", "focus": "2"}),
        reply("", goal={"done": "told"}),
        reply("All done."),
    ]
    model = ModelWithClassifier(script, DELAY_S, impact="future", goals=["2"])
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "tree"
        root.mkdir()
        async with driven(model, root, settings=settings) as driver:
            began_s = time.monotonic()
            driver.session.send(SubmitPrompt("work"))
            await driver.until(ToolRunStarted)
            driver.session.send(AddComment(CommentId("c1"), "in two lines, please"))
            await driver.until_ended()
            taken_s = time.monotonic() - began_s
            (routed,) = [event for event in driver.events if isinstance(event, CommentRouted)]
    return taken_s, routed.decided_by


__all__ = ["measure"]
