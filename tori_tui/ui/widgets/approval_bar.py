"""A question for permission: the whole command or diff, and what the keys do.

Must not approve anything by a key that was on its way when the question came, nor by a word that is typed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, Literal

from rich.cells import cell_len
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tori_tui.domain.events import ApprovalChanged
from tori_tui.domain.ids import ApprovalId
from tori_tui.render.safe_text import one_line
from tori_tui.render.unmasked_text import unmasked
from tori_tui.ui.actions import bindings_of
from tori_tui.ui.palette import Palette
from tori_tui.ui.transcript.diffs import DiffForm, is_wide_enough
from tori_tui.ui.transcript.lines import strip_of, title_line
from tori_tui.ui.transcript.question import question_lines

GUARD_S: Final = 0.3
"""Keys that come this soon after the question is seen, or after such a key, were typed for something else."""

ApprovalScope = Literal["once", "goal", "session", "always"]

SCOPE_KEYS: Final[dict[ApprovalScope, str]] = {"once": "y", "goal": "g", "session": "s", "always": "a"}

_SCOPES: Final[dict[str, ApprovalScope]] = {key: scope for scope, key in SCOPE_KEYS.items()}

DENY_KEY: Final = "n"

_SHORT_WORDS: Final = {"this goal": "goal", "this session": "session", "deny …": "deny", "to answer:": "then"}
"""Where there is little room."""


class ApprovalBar(Widget, can_focus=True):
    """Shows one question; the others wait behind it."""

    DEFAULT_CSS = """
    ApprovalBar {
        height: auto;
        max-height: 60%;
        display: none;
        &.-asking { display: block; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings_of("approval")

    class Decided(Message):
        """The user allowed a call, once or for longer."""

        def __init__(self, approval_id: ApprovalId, scope: ApprovalScope) -> None:
            super().__init__()
            self.approval_id = approval_id
            self.scope = scope

    class DenialBegun(Message):
        """The user wants to deny; the reason is still to be written."""

        def __init__(self, approval_id: ApprovalId) -> None:
            super().__init__()
            self.approval_id = approval_id

    class TypedOn(Message):
        """Keys that were meant for the draft."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class DenialEnded(Message):
        """Enter behind the key that denies, before the input has the focus."""

    def __init__(self, palette: Palette, *, clock: Callable[[], float], id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette
        self._clock = clock
        self._approval: ApprovalChanged | None = None
        self._n_waiting = 0
        self._has_goal = False
        self._decided: ApprovalId | None = None
        """What was answered already: another key for it does nothing."""
        self._chosen: ApprovalScope | None = None
        """For longer than once: Enter makes it hold, so that a word that begins with its key does not."""
        self._held = ""
        """Keys that came too soon to be an answer; a word that they begin takes them along."""
        self._is_word = False
        """A word began: what follows before the draft has the focus belongs to it."""
        self._is_denial = False
        """It is the reason of a denial."""
        self._seen_at_s: float | None = None
        """When the question was drawn; None before that, and keys decide nothing."""
        self._below: list[Text] = []
        self._lines: list[Text] = []
        self._lines_width = 0
        self._first = 0
        self._diff_form: DiffForm = "auto"

    def show(self, waiting: tuple[ApprovalChanged, ...], *, has_goal: bool = True) -> None:
        """Ask the first of the questions that wait; none hides the bar.

        Args:
            waiting: In the order in which they were asked.
            has_goal: There is a goal that an answer can hold for.
        """
        first = waiting[0] if waiting else None
        is_new = first is not None and (
            self._approval is None or self._approval.approval_id != first.approval_id
        )
        now = (first, len(waiting), has_goal)
        has_changed = now != (self._approval, self._n_waiting, self._has_goal)
        self._approval, self._n_waiting, self._has_goal = now
        if is_new:
            self.guard()
            self._first = 0
            self._forget_keys()
        if has_changed:
            self._lines_width = 0
            self.set_class(first is not None, "-asking")
            self.refresh(layout=True)

    def set_palette(self, palette: Palette) -> None:
        """Draw in other styles."""
        self._palette = palette
        self._lines_width = 0
        self.refresh()

    @property
    def approval(self) -> ApprovalChanged | None:
        """The question that is asked."""
        return self._approval

    # ── drawing ──

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        """Return the lines that the whole question needs."""
        return 2 + len(self._body(width)) + len(self._below)

    def render_line(self, y: int) -> Strip:
        """Return one line of the bar."""
        width, height = self.size.width, self.size.height
        palette = self._palette
        ground = palette.panel
        if self._approval is None:
            return Strip.blank(width, ground)
        if y == 0:
            self._seen_at_s = self._clock() if self._seen_at_s is None else self._seen_at_s
            return strip_of(self._title(width), width, ground)
        if y == height - 1:
            return strip_of(self._keys(width), width, ground)
        body = self._body(width)
        below_from = height - 1 - len(self._below)
        lines, index = (self._below, y - below_from) if y >= below_from else (body, self._first + y - 1)
        line = lines[index] if index < len(lines) else Text()
        return strip_of(Text.assemble("  ", line), width, ground)

    def _title(self, width: int) -> Text:
        palette, approval = self._palette, self._approval
        if approval is None:
            return Text()
        left = Text.assemble(
            (" ? ", palette.warning),
            ("Allow ", palette.warning),
            (unmasked(one_line(approval.title, 400)), palette.strong),
        )
        right = Text(f"1 of {self._n_waiting} " if self._n_waiting > 1 else "", palette.muted)
        return title_line(left, right, width)

    def _keys(self, width: int) -> Text:
        palette = self._palette
        hidden = self._last_first(width)
        left_over = hidden - self._first
        more = "" if hidden <= 0 else f"↑↓ {left_over:,} more lines " if left_over > 0 else "↑↓ end "
        short = tuple((key, _SHORT_WORDS.get(word, word)) for key, word in self._told_keys)
        # How to say no must be seen in any case.
        for told, gap, rest in (
            (self._told_keys, "  ", more),
            (short, "  ", more),
            (short, "", more.replace(" more lines", "")),
        ):
            if 2 + sum(len(f" {key} {word}{gap}") for key, word in told) + cell_len(rest) <= width:
                break
        text = Text(" ")
        for key, word in told:
            text.append(f" {key} ", palette.accent)
            text.append(f"{word}{gap}", palette.muted)
        return title_line(text, Text(rest, palette.warning), width)

    @property
    def _offered(self) -> tuple[tuple[str, str], ...]:
        """The keys that answer, with what they mean; for longer than once only where a rule can say it."""
        has_rules = self._approval is not None and bool(self._approval.rules)
        longer = (("g", "this goal"),) if self._has_goal else ()
        rest = (*longer, ("s", "this session"), ("a", "always")) if has_rules else ()
        return (("y", "once"), *rest, (DENY_KEY, "deny …"))

    @property
    def _told_keys(self) -> tuple[tuple[str, str], ...]:
        if self._chosen is not None:
            meant = dict(self._offered)[SCOPE_KEYS[self._chosen]]
            return (("Enter", f"allow {meant}"), ("Esc", "back"))
        return self._offered if self.has_focus else (("F6", "to answer:"), *self._offered)

    def _body(self, width: int) -> list[Text]:
        if self._approval is None:
            return []
        if self._lines_width != width:
            self._lines_width = width
            self._lines, self._below = question_lines(
                self._approval, width - 4, self._palette, form=self._diff_form, has_goal=self._has_goal
            )
        return self._lines

    def _last_first(self, width: int) -> int:
        """Return the furthest that can be scrolled."""
        n_lines = len(self._body(width))
        return max(0, n_lines - max(1, self.size.height - 2 - len(self._below)))

    # ── keys ──

    def guard(self) -> None:
        """Take no key for an answer until the question was seen for a moment."""
        self._seen_at_s = None
        self.refresh()

    def on_focus(self) -> None:
        """Keys that follow at once were typed for what had the focus before."""
        self.guard()

    def on_blur(self) -> None:
        """Choose anew when the focus comes back."""
        self._forget_keys()
        self.refresh()

    def _forget_keys(self) -> None:
        self._chosen, self._held, self._is_word, self._is_denial = None, "", False, False

    def on_key(self, event: events.Key) -> None:
        """Keep keys that were on their way, or begin a word, from deciding; a word goes to the draft."""
        now_s = self._clock()
        is_guarded = self._seen_at_s is None or now_s - self._seen_at_s < GUARD_S
        typed = event.character if event.is_printable else None
        is_answer = event.key in self._bindings.key_to_bindings
        if typed and self._is_word:
            self.post_message(self.TypedOn(typed))
        elif event.key == "enter" and self._is_denial:
            self.post_message(self.DenialEnded())
        elif typed and is_answer and is_guarded:
            # Perhaps an answer that came too soon, perhaps the beginning of a word: the next key tells.
            self._held += typed
            self._seen_at_s = None if self._seen_at_s is None else now_s
        elif typed and (self._chosen is not None or not is_answer):
            begun = self._held + (SCOPE_KEYS[self._chosen] if self._chosen is not None else "")
            self._forget_keys()
            self._is_word = True
            self.post_message(self.TypedOn(begun + typed))
        elif typed in _SCOPES:
            # At once, not by its binding: that comes round only after the keys that wait behind it.
            self.action_decide(_SCOPES[typed])
        elif typed == DENY_KEY:
            self.action_deny()
        elif event.key == "enter" and self._chosen is not None:
            self._decide(self._chosen)
        elif event.key == "escape" and self._chosen is not None:
            self._chosen = None
        elif event.key != "enter":
            return
        self.refresh()
        event.stop()
        event.prevent_default()

    def action_decide(self, scope: ApprovalScope) -> None:
        """Allow the call once; for longer, if what is offered is confirmed by Enter."""
        if self._approval is None or SCOPE_KEYS[scope] not in dict(self._offered):
            return
        if scope == "once":
            self._decide(scope)
        else:
            self._chosen = scope
            self.refresh()

    def _decide(self, scope: ApprovalScope) -> None:
        asked = self._approval
        self._forget_keys()
        if asked is not None and asked.approval_id != self._decided:
            self._decided = asked.approval_id
            self.post_message(self.Decided(asked.approval_id, scope))

    def action_deny(self) -> None:
        """Ask for the reason of a denial."""
        if self._approval is not None:
            self._is_word = self._is_denial = True  # the reason follows
            self.post_message(self.DenialBegun(self._approval.approval_id))

    def show_diffs(self, form: DiffForm) -> None:
        """Show diffs in another form."""
        self._diff_form = form
        self._lines_width = 0
        self._first = 0
        self.refresh(layout=True)

    def action_switch_diffs(self) -> None:
        """Show the diff side by side, or again one side below the other."""
        self.show_diffs("unified" if is_wide_enough(self.size.width - 4, self._diff_form) else "side")

    def action_scroll_lines(self, lines: int) -> None:
        """Move through the command or diff."""
        self._first = max(0, min(self._first + lines, self._last_first(self.size.width)))
        self.refresh()

    def action_scroll_pages(self, pages: int) -> None:
        """Move by what is in view."""
        self.action_scroll_lines(pages * max(1, self.size.height - 3 - len(self._below)))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Scroll by the wheel."""
        event.stop()
        self.action_scroll_lines(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Scroll by the wheel."""
        event.stop()
        self.action_scroll_lines(-3)


__all__ = ["GUARD_S", "ApprovalBar"]
