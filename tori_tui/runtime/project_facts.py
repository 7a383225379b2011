"""What the user asks of the project's memory while a session is open.

Must not be called by the inbox itself: a server may take seconds to fail.
"""

from __future__ import annotations

from typing import Final, Literal, assert_never

from tori_tui.domain.commands import ForgetFact, SearchMemory
from tori_tui.domain.events import MemoryChanged, NoticeShown
from tori_tui.domain.memory import Fact
from tori_tui.domain.plan_text import one_line
from tori_tui.memory.base import MemoryFailed, MemoryStore
from tori_tui.runtime.recorder import Recorder

SHOWN_FACTS: Final = 30
FACT_LIMIT_CHARS: Final = 300


class ProjectFacts:
    """Shows and forgets facts.

    Args:
        recorder: Where what was forgotten is recorded, and the rest is told.
        store: The project's memory.
    """

    def __init__(self, recorder: Recorder, store: MemoryStore) -> None:
        self._recorder = recorder
        self._store = store

    async def follow(self, wish: SearchMemory | ForgetFact) -> None:
        """Follow a wish; what comes of it is told."""
        try:
            await self._follow(wish)
        except MemoryFailed as failure:
            self._tell(f"Not done. {failure}", "warning")

    async def _follow(self, wish: SearchMemory | ForgetFact) -> None:
        match wish:
            case SearchMemory():
                facts = await self._store.search(wish.words, SHOWN_FACTS + 1)
                self._tell(_listed(facts, one_line(wish.words)))
            case ForgetFact():
                if await self._store.forget(wish.fact_id):
                    await self._recorder.record(
                        MemoryChanged("project", "forgotten", wish.fact_id, by="user")
                    )
                else:
                    self._tell(f"There is no fact {wish.fact_id}: /memory lists them.", "warning")
            case _:
                assert_never(wish)

    def _tell(self, text: str, level: Literal["info", "warning"] = "info") -> None:
        self._recorder.announce(NoticeShown(text, level))


def _listed(facts: tuple[Fact, ...], words: str) -> str:
    if not facts:
        return (
            f"No fact has all of the words {words!r}."
            if words
            else "Nothing is remembered of this project yet."
        )
    lines = [f"{fact.id}. {one_line(fact.text, FACT_LIMIT_CHARS)}" for fact in facts[:SHOWN_FACTS]]
    more = ["There are more: /memory WORDS narrows it down."] if len(facts) > SHOWN_FACTS else []
    return "\n".join(("Remembered of this project (/memory forget ID):", *lines, *more))


__all__ = ["ProjectFacts"]
