"""An image that the user shows with his words, and how his words name it.

Must not read a file; what can be shown comes in.
"""

from __future__ import annotations

from dataclasses import dataclass

from tori_tui.domain.messages import ContentPart


@dataclass(frozen=True, slots=True)
class ShownImage:
    """An image as it goes to the model, with what people know it by."""

    name: str
    part: ContentPart
    width: int = 0
    """In pixels; 0 where the file does not tell."""
    height: int = 0
    path: str = ""
    """Where it was found, as the user may write it again; empty of one from the clipboard."""

    @property
    def label(self) -> str:
        """Its name and size: `login.png 640×480`."""
        return f"{self.name} {self.width}×{self.height}" if self.width and self.height else self.name


__all__ = ["ShownImage"]
