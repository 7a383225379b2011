"""What /proc tells of processes: who they are, who is below whom; and a signal that hits only the one meant.

Must not know commands or calls; `descendants` decides what belongs to which.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HAS_PROC: Final = Path("/proc/self/stat").exists()

_ENDED: Final = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class ProcessFacts:
    """One process at the moment of looking."""

    pid: int
    """Negative for a whole group, on a system without /proc."""
    name: str
    state: str
    parent: int
    group: int
    session: int
    start_ticks: int
    """Since boot; with the pid it names one process for ever."""

    @property
    def has_ended(self) -> bool:
        """Whether it only waits to be reaped."""
        return self.state in _ENDED

    @property
    def key(self) -> tuple[int, int]:
        """What tells it from a later process with the same pid."""
        return self.pid, self.start_ticks


def read_facts(pid: int) -> ProcessFacts | None:
    """Look at one process; None where there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            head, _, tail = file.read().rpartition(b")")
    except OSError:
        return None
    fields = tail.split()
    name = head.partition(b"(")[2].decode("utf-8", "replace")
    # Fields 3 to 6 and 22 of proc(5); `tail` begins with field 3.
    return ProcessFacts(
        pid, name, fields[0].decode(), int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19])
    )


def children_of(pid: int) -> list[int]:
    """Return the pids of a process's children, adopted ones included."""
    children: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(ProcessLookupError), open(f"/proc/{pid}/task/{task}/children", "rb") as file:
                children.extend(map(int, file.read().split()))
    except FileNotFoundError:
        # The process is gone, or the kernel was built without these files.
        return _children_by_search(pid) if _has_no_children_files() else []
    except OSError:
        return []
    return children


def walk_below(pid: int) -> Iterator[ProcessFacts]:
    """Yield a process, if it is there, and everything below it."""
    waiting, met = [pid], {pid}
    while waiting:
        facts = read_facts(waiting.pop())
        if facts is None:
            continue
        yield facts
        new = [child for child in children_of(facts.pid) if child not in met]
        met.update(new)
        waiting.extend(new)


def all_pids() -> list[int]:
    """Return every pid that is visible."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit()] if HAS_PROC else []


def read_variable(pid: int, name: str) -> str | None:
    """Return a variable of the environment that a process was started with; None if it cannot be told."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            entries = file.read().split(b"\0")
    except OSError:
        return None
    wanted = name.encode() + b"="
    return next(
        (entry[len(wanted) :].decode("utf-8", "replace") for entry in entries if entry.startswith(wanted)),
        None,
    )


def send_signal(facts: ProcessFacts, signal_number: signal.Signals) -> None:
    """Send a signal to exactly that process: never to a later one that got its pid."""
    with suppress(ProcessLookupError, PermissionError):
        if facts.pid < 0:
            os.kill(facts.pid, signal_number)
            return
        handle = os.pidfd_open(facts.pid)
        try:
            now = read_facts(facts.pid)
            if now is not None and now.key == facts.key:
                signal.pidfd_send_signal(handle, signal_number)
        finally:
            os.close(handle)


def _has_no_children_files() -> bool:
    return not Path(f"/proc/self/task/{os.getpid()}/children").exists()


def _children_by_search(pid: int) -> list[int]:
    every = map(read_facts, all_pids())
    return [facts.pid for facts in every if facts is not None and facts.parent == pid]


__all__ = [
    "HAS_PROC",
    "ProcessFacts",
    "all_pids",
    "children_of",
    "read_facts",
    "read_variable",
    "send_signal",
    "walk_below",
]
