"""The saving of the work tree and the way back, of one session: loaded beside its first request.

Must not save or restore anything itself; `checkpointing` and `rewinding` do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tori_tui.runtime.recorder import Recorder

if TYPE_CHECKING:
    from tori_tui.runtime.checkpointing import Checkpointing
    from tori_tui.runtime.rewinding import Rewinding


class GoingBack:
    """Both parts at their first use.

    Args:
        make: Makes them; the first call loads their code.
        is_cut: Whether a kill may have cut off a restore; asked without loading their code.
    """

    def __init__(self, recorder: Recorder, make: Callable[[], Rewinding], is_cut: Callable[[], bool]) -> None:
        self._recorder = recorder
        self._make = make
        self._is_cut = is_cut
        self._rewinding: Rewinding | None = None

    @property
    def rewinding(self) -> Rewinding:
        """What goes back."""
        if self._rewinding is None:
            self._rewinding = self._make()
        return self._rewinding

    @property
    def checkpointing(self) -> Checkpointing:
        """What saves."""
        return self.rewinding.checkpointing

    async def recover(self) -> None:
        """Finish what a kill cut off; a trace that has begun nothing has nothing of that."""
        if self._recorder.state.created_at is not None and self._is_cut():
            await self.rewinding.recover()

    async def begin(self) -> None:
        """A run begins: what a resumed session finds changed is told before its first request.

        A new session's tree is saved while that request is under way, or before its first change.
        """
        if len(self._recorder.state.past.checkpoints):
            await self.checkpointing.begin()

    async def settled(self) -> None:
        """Return when the tree is saved as the run leaves it."""
        await self.checkpointing.begin()
        await self.checkpointing.settled()

    def take_news(self) -> str:
        """Return, once, what changed in the tree while tori was away."""
        return "" if self._rewinding is None else self.checkpointing.take_news()

    async def close(self) -> None:
        """Return when nothing of it runs any more."""
        if self._rewinding is not None:
            await self.checkpointing.close()


__all__ = ["GoingBack"]
