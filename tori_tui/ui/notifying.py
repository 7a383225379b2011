"""Calls the user back to a terminal that he does not look at: bell, a notice of the desktop, the title.

Must not write a character that steers the terminal other than those that are meant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal

from tori_tui.domain.events import ApprovalChanged, DurableEvent, RunStatusChanged
from tori_tui.render.safe_text import one_line

NoticeKind = Literal["osc9", "osc777", "bell", "off"]

TEXT_LIMIT_CHARS: Final = 120
TITLE_LIMIT_CHARS: Final = 60

TITLE_MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "running": "▶",
        "waiting": "?",
        "done": "✓",
        "failed": "✗",
        "incomplete": "◐",
        "limit": "◐",
        "interrupted": "■",
    }
)
"""How a session stands, in front of its mission."""

_ENDS: Final[Mapping[str, str]] = MappingProxyType(
    {"done": "Done", "failed": "Failed", "incomplete": "Goals are open", "limit": "A limit was reached"}
)
"""Not the user's own interrupt: he knows."""

BELL: Final = "\a"
_KEEP_TITLE: Final = "\x1b[22;2t"
_GIVE_TITLE_BACK: Final = "\x1b[23;2t"

_OSC9_PROGRAMS: Final = ("iTerm.app", "WezTerm", "ghostty", "kitty")
"""Values of TERM_PROGRAM or parts of TERM of those that show OSC 9 on the desktop."""
_OSC777_TERMS: Final = ("rxvt", "foot", "contour")


def notice_kind(wanted: str, environ: Mapping[str, str]) -> NoticeKind:
    """Return how this terminal can be made to call; inside of tmux and screen only by the bell.

    Args:
        wanted: `auto`, `bell` or `off`, as the configuration says.
        environ: What the terminal says of itself.
    """
    if wanted in ("bell", "off"):
        return "off" if wanted == "off" else "bell"
    term = environ.get("TERM", "")
    if environ.get("TMUX") or term.startswith(("screen", "tmux")):
        return "bell"
    if environ.get("TERM_PROGRAM", "") in _OSC9_PROGRAMS or any(name in term for name in _OSC9_PROGRAMS):
        return "osc9"
    if environ.get("VTE_VERSION") or term.startswith(_OSC777_TERMS):
        return "osc777"
    return "bell"


def calling(event: DurableEvent) -> str:
    """Return with which words an event calls the user; empty where it does not."""
    match event:
        case RunStatusChanged() if event.status in _ENDS:
            return f"{_ENDS[event.status]}: {event.reason}" if event.reason else _ENDS[event.status]
        case ApprovalChanged(state="asked"):
            return f"May it? {event.title}"
        case _:
            return ""


class Notifier:
    """Writes what calls.

    Args:
        kind: How.
        write: Takes what goes to the terminal as it is.
    """

    def __init__(self, kind: NoticeKind, write: Callable[[str], object]) -> None:
        self.kind = kind
        self.write = write
        self._title = ""

    def call(self, text: str) -> None:
        """Call with a text."""
        told = one_line(text, TEXT_LIMIT_CHARS)
        match self.kind:
            case "osc9":
                self.write(f"\x1b]9;tori: {told}{BELL}{BELL}")
            case "osc777":
                # A semicolon would end the text.
                self.write(f"\x1b]777;notify;tori;{told.replace(';', ',')}{BELL}{BELL}")
            case "bell":
                self.write(BELL)
            case "off":
                pass

    def show_title(self, text: str) -> None:
        """Show a text as the window's title; the one of before comes back at the end."""
        title = one_line(text, TITLE_LIMIT_CHARS)
        if self.kind == "off" or title == self._title:
            return
        keep = "" if self._title else _KEEP_TITLE
        self._title = title
        self.write(f"{keep}\x1b]2;{title}{BELL}")

    def end(self) -> None:
        """Give the window its own title back."""
        if self._title:
            self._title = ""
            self.write(_GIVE_TITLE_BACK)


__all__ = ["BELL", "TITLE_MARKS", "NoticeKind", "Notifier", "calling", "notice_kind"]
