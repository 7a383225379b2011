"""Every action of the app, declared once: keys, help and palette are drawn from here.

Must not do anything; screens and widgets hold the methods named here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

from textual.binding import Binding, BindingType

Scope = Literal[
    "session", "input", "transcript", "goals", "filter", "context", "search", "approval", "waiting", "replay"
]

SCOPE_TITLES: Final[dict[Scope, str]] = {
    "session": "Everywhere",
    "input": "Writing",
    "transcript": "In the conversation",
    "goals": "In the goal tree",
    "filter": "While filtering goals",
    "context": "In the context pane",
    "search": "While searching",
    "approval": "At a question for permission",
    "waiting": "In the comments that wait (F6)",
    "replay": "While replaying",
}


@dataclass(frozen=True, slots=True)
class Action:
    """Something the user can do.

    A key that is only told here (`is_bound` false) is handled by its widget itself.
    """

    name: str
    """The method `action_NAME` of the scope's widget, with arguments if it takes any."""
    title: str
    keys: tuple[str, ...]
    scope: Scope
    slash: str = ""
    """The command that does the same, without its slash."""
    is_priority: bool = False
    """Works whatever has the focus."""
    is_bound: bool = True
    in_palette: bool = True
    """False for what only a key makes sense of: moving, scrolling, writing, answering what is asked."""
    is_told: bool = True
    """Stands in help and palette."""
    is_live: bool = False
    """Needs a session that goes on; a replay has none."""
    shown_keys: str = ""
    """How the keys are written in the help, where their names do not do."""


ACTIONS: Final[tuple[Action, ...]] = (
    # ── everywhere ──
    Action("interrupt", "Interrupt; when idle, back to the input", ("escape",), "session", is_live=True),
    Action(
        "copy_interrupt_or_quit",
        "Copy, else interrupt, else clear the draft; twice: quit",
        ("ctrl+c",),
        "session",
        is_priority=True,
        in_palette=False,
        is_live=True,
    ),
    Action("next_pane", "Next pane", ("f6",), "session", is_priority=True),
    Action("next_mode", "Next permission mode", ("shift+tab",), "session", is_priority=True, is_live=True),
    Action("palette", "Commands", ("ctrl+p",), "session", is_bound=False, in_palette=False),
    Action("toggle_goals", "Show or hide the goals", ("ctrl+g",), "session", "plan", is_priority=True),
    Action(
        "toggle_context", "Show or hide the next request", ("f2",), "session", "context", is_priority=True
    ),
    Action("search", "Search the conversation", ("ctrl+f",), "session", "search", is_priority=True),
    Action("choose_model", "Models: switch to another", (), "session", "model", is_live=True),
    Action("choose_effort", "Effort: how much the model thinks", (), "session", "effort"),
    Action("goal_details", "All about the goal that is worked on", (), "session"),
    Action("filter_goals", "Filter the goals", (), "session"),
    Action("tell_cost", "Cost so far, in all and by goal", (), "session", "cost"),
    Action("unfold", "Unfold or fold", ("ctrl+o",), "session", is_priority=True),
    Action("open_files", "Open a file that the conversation names", (), "session"),
    Action("switch_diffs", "Diffs side by side, or in one column", (), "session"),
    Action("help", "Help", ("f1",), "session", "help", is_priority=True),
    Action("help", "Help, outside the input", ("question_mark",), "session", in_palette=False),
    Action("follow_end", "Show the newest and follow it", ("ctrl+end",), "session", is_priority=True),
    Action("suspend", "Suspend tori, back with `fg`", ("ctrl+z",), "session", is_priority=True),
    Action("go_on", "Go on with the mission", (), "session", "continue", is_live=True),
    Action("clear", "New session; this one is kept", (), "session", "clear", is_live=True),
    Action("sessions", "Sessions: choose one to go on with", (), "session", "resume", is_live=True),
    Action("choose_theme", "Themes: look at each, keep one", (), "session", "theme"),
    Action("quit", "Quit", ("ctrl+q",), "session", "quit", is_priority=True),
    # ── writing ──
    Action("submit", "Send", ("enter",), "input", is_bound=False, in_palette=False),
    Action(
        "newline",
        "New line",
        ("ctrl+j", "shift+enter", "alt+enter"),
        "input",
        in_palette=False,
        shown_keys="Ctrl+J, Shift+Enter, \\ Enter",
    ),
    Action(
        "complete",
        "Take what is offered for @file, #goal, /command (Esc closes)",
        ("tab",),
        "input",
        is_bound=False,
        in_palette=False,
        shown_keys="Tab, Enter",
    ),
    Action(
        "shell",
        "Run a command yourself; !!command keeps it from the model",
        ("exclamation_mark",),
        "input",
        is_bound=False,
        in_palette=False,
        shown_keys="!command",
    ),
    Action(
        "older",
        "Earlier message; in an empty input: the waiting comment back",
        ("up",),
        "input",
        is_bound=False,
        in_palette=False,
    ),
    Action("newer", "Later message", ("down",), "input", is_bound=False, in_palette=False),
    Action("search_history", "Search earlier messages of this project", ("ctrl+r",), "input"),
    Action("edit_draft", "Edit the draft in $EDITOR", ("f4",), "input"),
    Action("paste", "Show the clipboard's image; @picture.png or a dropped file too", ("ctrl+v",), "input"),
    Action(
        "unfold_paste",
        "Unfold the paste at the cursor; a very large one in $EDITOR (Backspace deletes it)",
        ("ctrl+o",),
        "input",
        is_bound=False,
    ),
    Action("scroll_back(-1)", "Scroll the conversation up", ("pageup",), "input", in_palette=False),
    Action("scroll_back(1)", "Scroll the conversation down", ("pagedown",), "input", in_palette=False),
    Action("undo", "Undo", ("ctrl+underscore", "super+z"), "input", in_palette=False, shown_keys="Ctrl+_"),
    # ── conversation ──
    Action("scroll_lines(-1)", "Line up", ("up", "k"), "transcript", in_palette=False),
    Action("scroll_lines(1)", "Line down", ("down", "j"), "transcript", in_palette=False),
    Action("scroll_pages(-1)", "Page up", ("pageup",), "transcript", in_palette=False),
    Action("scroll_pages(1)", "Page down", ("pagedown", "space"), "transcript", in_palette=False),
    Action("to_start", "Start", ("home",), "transcript"),
    Action("follow", "End, and follow", ("end",), "transcript", in_palette=False),
    Action("mark(-1)", "Previous block", ("p",), "transcript"),
    Action("mark(1)", "Next block, or the next hit of a search", ("n",), "transcript"),
    Action("screen.search", "Search", ("slash",), "transcript", in_palette=False),
    Action("next_hit(-1)", "Previous hit of a search", ("N",), "transcript"),
    Action("goal(-1)", "Previous goal", ("left_square_bracket",), "transcript"),
    Action("goal(1)", "Next goal", ("right_square_bracket",), "transcript"),
    Action("edit_block", "Open the block in $EDITOR", ("e",), "transcript"),
    Action("toggle_fold", "Unfold or fold the block", ("enter",), "transcript", in_palette=False),
    Action("copy_block", "Copy the block", ("y",), "transcript"),
    Action(
        "open_files", "Open a file that the block names, at its line", ("f",), "transcript", in_palette=False
    ),
    Action("show_change", "Diff of the call or checkpoint, on a page", ("d",), "transcript"),
    Action("go_back", "Back to the checkpoint (asks once)", ("u",), "transcript", is_live=True),
    Action("switch_diffs", "Diffs side by side, or in one column", ("v",), "transcript", in_palette=False),
    # ── goal tree ──
    Action("move_cursor(-1)", "Goal above", ("up", "k"), "goals", in_palette=False),
    Action("move_cursor(1)", "Goal below", ("down", "j"), "goals", in_palette=False),
    Action("collapse", "Collapse, or to the parent", ("left", "h"), "goals", in_palette=False),
    Action("expand", "Expand", ("right", "l"), "goals", in_palette=False),
    Action("jump", "Jump to its work", ("enter",), "goals"),
    Action("details", "All about it: tokens, cost, check, files", ("i", "space"), "goals", in_palette=False),
    Action("filter", "Filter: words of a title, is:open, is:failed …", ("slash",), "goals", in_palette=False),
    Action("clear_filter", "All goals again, where a filter holds", ("escape",), "goals"),
    Action("intend('comment')", "Comment on it", ("c",), "goals", is_live=True),
    Action("intend('add')", "Add goals below it", ("a",), "goals", is_live=True),
    Action("intend('rename')", "Rename it", ("r",), "goals", is_live=True),
    Action(
        "intend('down')",
        "Move it down (M: up)",
        ("m",),
        "goals",
        is_live=True,
        shown_keys="m, M",
    ),
    Action("intend('up')", "Move it up", ("M",), "goals", is_live=True),
    Action("intend('focus')", "Focus it", ("f",), "goals", is_live=True),
    Action("intend('diff')", "Show what it changed", ("d",), "goals", is_live=True),
    Action("intend('drop')", "Drop it (asks once)", ("x",), "goals", is_live=True),
    Action(
        "intend('rewind')",
        "Back to where it began (asks once)",
        ("u",),
        "goals",
        is_live=True,
    ),
    # ── filter ──
    Action("close", "To the goals that fit", ("enter",), "filter", is_bound=False, in_palette=False),
    Action("step(-1)", "Goal above", ("up",), "filter", in_palette=False),
    Action("step(1)", "Goal below", ("down",), "filter", in_palette=False),
    Action("drop", "All goals again", ("escape",), "filter", in_palette=False),
    # ── context ──
    Action("scroll_up", "Line up", ("up", "k"), "context", in_palette=False),
    Action("scroll_down", "Line down", ("down", "j"), "context", in_palette=False),
    Action("page_up", "Page up", ("pageup",), "context", in_palette=False),
    Action("page_down", "Page down", ("pagedown", "space"), "context", in_palette=False),
    Action("close", "Close it", ("escape",), "context", in_palette=False),
    # ── search ──
    Action("step(-1)", "Earlier hit", ("up",), "search", in_palette=False),
    Action("step(1)", "Later hit", ("down",), "search", in_palette=False),
    Action(
        "close",
        "Done: in the conversation n and N go on",
        ("escape",),
        "search",
        in_palette=False,
        shown_keys="Enter, Esc",
    ),
    # ── permission ──
    Action("decide('once')", "Allow once", ("y",), "approval", in_palette=False),
    Action(
        "decide('goal')",
        "Allow while this goal is worked on, then Enter",
        ("g",),
        "approval",
        in_palette=False,
    ),
    Action("decide('session')", "Allow for this session, then Enter", ("s",), "approval", in_palette=False),
    Action(
        "decide('always')",
        "Allow always, saved to your settings, then Enter",
        ("a",),
        "approval",
        in_palette=False,
    ),
    Action("switch_diffs", "Diff side by side, or in one column", ("v",), "approval", in_palette=False),
    Action("deny", "Deny, with a reason if you like", ("n",), "approval", in_palette=False),
    Action("scroll_lines(-1)", "Line up", ("up",), "approval", in_palette=False),
    Action("scroll_lines(1)", "Line down", ("down",), "approval", in_palette=False),
    Action("scroll_pages(-1)", "Page up", ("pageup",), "approval", in_palette=False),
    Action("scroll_lines(-1_000_000)", "Start", ("home",), "approval", in_palette=False),
    Action("scroll_lines(1_000_000)", "End", ("end",), "approval", in_palette=False),
    Action("scroll_pages(1)", "Page down", ("pagedown", "space"), "approval", in_palette=False),
    # ── waiting comments ──
    Action("mark(-1)", "Comment above", ("up", "k"), "waiting", in_palette=False),
    Action("mark(1)", "Comment below", ("down", "j"), "waiting", in_palette=False),
    Action("take_back", "Back into the input, to be changed", ("enter", "e"), "waiting", in_palette=False),
    Action("drop", "Delete it: it has no effect", ("x", "delete"), "waiting", in_palette=False),
    Action("move(1)", "Later (M: earlier)", ("m",), "waiting", in_palette=False, shown_keys="m, M"),
    Action("move(-1)", "Earlier", ("M",), "waiting", in_palette=False),
    Action("leave", "Back to the input", ("escape",), "waiting", in_palette=False),
    # ── replay ──
    Action("pause", "Pause or play", ("space",), "replay", is_priority=True),
    Action("turn(1)", "Next turn", ("right", "l"), "replay", is_priority=True),
    Action("turn(-1)", "Previous turn", ("left", "h"), "replay", is_priority=True),
    Action("to_goal(1)", "Where the next goal begins", ("right_square_bracket",), "replay", is_priority=True),
    Action(
        "to_goal(-1)", "Where the goal before begins", ("left_square_bracket",), "replay", is_priority=True
    ),
    Action("step(1)", "One message on", ("full_stop",), "replay", is_priority=True),
    Action("step(-1)", "One message back", ("comma",), "replay", is_priority=True),
    Action("seek(0)", "To the start", ("home",), "replay", is_priority=True),
    Action("seek(1)", "To the end, as it goes on", ("end",), "replay", is_priority=True),
    Action(
        "ask_turn",
        "To a turn by its number",
        ("g",),
        "replay",
        is_priority=True,
        shown_keys="1…9 or g, Enter",
    ),
    Action("go_to_typed", "To the turn that is typed", ("enter",), "replay", is_priority=True, is_told=False),
    Action("speed(1)", "Faster", ("plus", "equals_sign"), "replay", is_priority=True, shown_keys="+"),
    Action("speed(-1)", "Slower", ("minus",), "replay", is_priority=True, shown_keys="-"),
    Action("toggle_path", "Only the path that counted, or everything", ("o",), "replay", is_priority=True),
    Action("leave", "Quit", ("q",), "replay", is_priority=True, in_palette=False),
    Action("interrupt", "Pause; back to the conversation", ("escape",), "replay", is_bound=False),
    Action(
        "copy_interrupt_or_quit", "Copy, else quit", ("ctrl+c",), "replay", is_bound=False, in_palette=False
    ),
)


def bindings_of(scope: Scope) -> list[BindingType]:
    """Return the bindings of a scope, for a widget's `BINDINGS`."""
    return [
        Binding(",".join(action.keys), action.name, action.title, show=False, priority=action.is_priority)
        for action in ACTIONS
        if action.scope == scope and action.keys and action.is_bound
    ]


def actions_of(scope: Scope) -> tuple[Action, ...]:
    """Return the actions of a scope, in order."""
    return tuple(action for action in ACTIONS if action.scope == scope)


def told_actions(scopes: Iterable[Scope]) -> tuple[tuple[Scope, tuple[Action, ...]], ...]:
    """Return what help and palette tell of some scopes: in a replay, without what needs a live session.

    There a key is told once: those of the replay come before the panes' own, the goal tree's excepted.
    """
    scopes = tuple(scopes)
    is_replay = "replay" in scopes
    taken = {key for action in ACTIONS if action.scope == "replay" for key in action.keys}
    told: list[tuple[Scope, tuple[Action, ...]]] = []
    for scope in scopes:
        actions = [action for action in actions_of(scope) if action.is_told]
        if is_replay:
            actions = [action for action in actions if not action.is_live]
        if is_replay and scope in ("transcript", "context"):
            actions = [_without(action, taken) for action in actions if set(action.keys) - taken]
        told.append((scope, tuple(actions)))
    return tuple(told)


def _without(action: Action, keys: set[str]) -> Action:
    left = tuple(key for key in action.keys if key not in keys)
    return action if left == action.keys else replace(action, keys=left, shown_keys="")


SLASH_ACTIONS: Final = tuple(action.slash for action in ACTIONS if action.slash)


def action_of_slash(word: str) -> Action | None:
    """Return the action that a slash command's word names, or None."""
    return next((action for action in ACTIONS if action.slash and action.slash == word), None)


_KEY_NAMES: Final = {
    "escape": "Esc",
    "question_mark": "?",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "pageup": "PgUp",
    "pagedown": "PgDn",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "full_stop": ".",
    "comma": ",",
}


def shown_keys(action: Action) -> str:
    """Return an action's keys as the help writes them: `Ctrl+G`."""
    return action.shown_keys or ", ".join(_shown_key(key) for key in action.keys)


def _shown_key(key: str) -> str:
    if key in _KEY_NAMES:
        return _KEY_NAMES[key]
    if len(key) == 1:
        return key
    return "+".join(_KEY_NAMES.get(part, part.capitalize()) for part in key.split("+"))


__all__ = [
    "ACTIONS",
    "SCOPE_TITLES",
    "SLASH_ACTIONS",
    "Action",
    "Scope",
    "action_of_slash",
    "actions_of",
    "bindings_of",
    "shown_keys",
    "told_actions",
]
