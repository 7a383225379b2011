"""Keeps what the user is writing, so that a kill takes no more of it than the last half second.

Must not know where it is kept, nor what it is written in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

PAUSE_S: Final = 0.5
"""Between two times that a draft is kept while it grows."""


class DraftKeeper:
    """Keeps one draft.

    Args:
        draft: Returns it as it stands.
        keep: Keeps it, or with an empty text nothing any more. Called in a thread, never twice at once.
    """

    def __init__(self, draft: Callable[[], str], keep: Callable[[str], None]) -> None:
        self._draft = draft
        self._keep = keep
        self._kept = ""
        self.is_following = False
        """A call of `follow` goes on; it sees what changes meanwhile."""

    async def follow(self) -> None:
        """Keep the draft until it stands still; to be called when it has changed."""
        if self.is_following:
            return
        self.is_following = True
        try:
            while (text := self._draft()) != self._kept:
                if text:
                    await asyncio.sleep(PAUSE_S)
                    text = self._draft()
                await asyncio.to_thread(self._keep, text)
                self._kept = text
        finally:
            self.is_following = False

    def finish(self) -> None:
        """Keep what was written last, at once."""
        if (text := self._draft()) != self._kept:
            self._keep(text)
            self._kept = text


__all__ = ["PAUSE_S", "DraftKeeper"]
