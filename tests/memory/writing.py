"""A process that remembers one thing after the other and says each number once it is acknowledged.

`python -m tests.memory.writing URL ROOT STATE_DIR NAME COUNT`
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.memory.facts import fact
from tori_tui.memory.base import MemoryFailed, MemoryStore
from tori_tui.memory.late import make_store


async def write(store: MemoryStore, name: str, count: int) -> None:
    """Add a fact and set a value each time; stop at the first failure, saying so."""
    for number in range(count):
        try:
            if number % 10 == 9:
                await store.set_value(f"_session_{name}", f"key {number}", f"value {number}")
            else:
                await store.add(fact(f"{name} learned number {number}"))
        except MemoryFailed as failure:
            print(f"failed {failure.message}", flush=True)
            return
        print(number, flush=True)
    await store.close()


if __name__ == "__main__":
    _, url, root, state_dir, name, count = sys.argv
    asyncio.run(write(make_store(url, Path(root), Path(state_dir)), name, int(count)))
