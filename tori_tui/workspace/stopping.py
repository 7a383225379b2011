"""Stops processes: TERM, time to save their work, then KILL.

Must not choose them; each caller looks again for what is still there.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Mapping
from typing import Final

from tori_tui.domain.events import ProcessRef
from tori_tui.workspace.descendants import left_of
from tori_tui.workspace.process_table import ProcessFacts, send_signal

GRACE_S: Final = 2.0
"""Between TERM and KILL (DESIGN §11)."""

KILL_WAIT_S: Final = 5.0
"""What cannot be killed in this time is stuck in the kernel; it is not waited for."""


async def stop_processes(living: Callable[[], list[ProcessFacts]], grace_s: float) -> tuple[str, ...]:
    """Send TERM, then KILL, until nothing is there any more; return the names of what was.

    Args:
        living: Looks again at each call.
        grace_s: Between TERM and KILL.
    """
    names: dict[tuple[int, int], str] = {}
    began_s = time.monotonic()
    pause_s = 0.002
    while alive := living():
        passed_s = time.monotonic() - began_s
        if passed_s > grace_s + KILL_WAIT_S:
            break
        for facts in alive:
            if passed_s >= grace_s:
                send_signal(facts, signal.SIGKILL)
            elif facts.key not in names:
                send_signal(facts, signal.SIGTERM)
                # A stopped process gets TERM only when it goes on.
                send_signal(facts, signal.SIGCONT)
            names[facts.key] = facts.name
        await asyncio.sleep(min(pause_s, max(0.002, grace_s - passed_s)))
        pause_s = min(pause_s * 2, 0.05)
    return tuple(names.values())


def kill_at_once(living: Callable[[], list[ProcessFacts]]) -> None:
    """Send KILL until nothing is there any more, a second long; nothing else goes on meanwhile."""
    ends_s = time.monotonic() + 1.0
    while (alive := living()) and time.monotonic() < ends_s:
        for facts in alive:
            send_signal(facts, signal.SIGKILL)
        time.sleep(0.002)


async def kill_left_over(commands: Mapping[ProcessRef, str]) -> bool:
    """Kill what an earlier tori left running, found again by pid, start time and marker.

    Args:
        commands: Each with the id of its call.

    Returns:
        Whether there was anything. A process that only got the same pid is never touched.
    """
    return bool(await stop_processes(lambda: left_of(commands), GRACE_S))


__all__ = ["GRACE_S", "kill_at_once", "kill_left_over", "stop_processes"]
