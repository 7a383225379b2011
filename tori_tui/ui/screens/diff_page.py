"""A diff over the session.

Must not compute a diff; it is given one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual.binding import Binding, BindingType

from tori_tui.ui.palette import Palette
from tori_tui.ui.screens.block_page import BlockPage
from tori_tui.ui.transcript.blocks import DiffBlock
from tori_tui.ui.transcript.diffs import DiffForm


class DiffPage(BlockPage):
    """One diff with a title."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("d", "dismiss", "Close", show=False)]

    def __init__(
        self,
        palette: Palette,
        title: str,
        diff: str,
        *,
        clock: Callable[[], float],
        form: DiffForm = "auto",
    ) -> None:
        super().__init__(palette, title, DiffBlock(diff), clock=clock, told="v side by side · Esc closes")
        self.page.show_diffs(form)


__all__ = ["DiffPage"]
