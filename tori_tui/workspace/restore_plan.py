"""Which files go back, and to what: everything that tori did since, nothing that the user did.

Pure. Must not touch a file; `restore` carries a plan out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from tori_tui.workspace.file_modes import Modes
from tori_tui.workspace.tree_changes import Change, Entry

Doer = Literal["agent", "user"]

FOLDER: Final = Entry("040000", "")
"""An empty folder, at a path that ends with `/`."""

PERMISSIONS: Final = Entry("permissions", "")
"""A file of which only the permissions are to change."""

USUAL: Final = -1
"""Permissions that new files get."""

KEPT_MODE: Final = "kept"
"""Mode of an entry whose content is a file in a trace's `outputs/`."""

IGNORE_FILE: Final = ".gitignore"

_REGULAR: Final = "100"
"""How the mode of a file begins that is neither a link nor kept elsewhere."""


@dataclass(frozen=True, slots=True)
class SavedState:
    """One checkpoint of a chain, and who changed the tree since the one before it."""

    tree: str
    by: Doer = "user"
    left_out: tuple[str, ...] = ()
    empty_folders: tuple[str, ...] = ()
    is_partial: bool = False
    modes: Modes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One path that is to change."""

    path: str
    now: Entry | None
    then: Entry | None
    bits: int | None = None
    """The permissions that it is to have, beside being executable; None where they stay, or are usual."""


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """What going back means for the files."""

    steps: tuple[Step, ...] = ()
    kept: tuple[str, ...] = ()
    """Paths that the user changed since: they stay, or become, as he left them."""
    left_alone: tuple[str, ...] = ()
    """Paths that stand outside the checkpoints, or of which nobody can tell who made them."""


@dataclass(slots=True)
class _Fates:
    """What was found of each path so far."""

    first: dict[str, Entry | None] = field(default_factory=dict)
    wanted: dict[str, Entry | None] = field(default_factory=dict)
    now: dict[str, Entry | None] = field(default_factory=dict)
    bits: dict[str, int | None] = field(default_factory=dict)
    """Permissions that are wanted of each path whose content or permissions changed; None: usual ones."""
    of_user: set[str] = field(default_factory=set)
    unsure: set[str] = field(default_factory=set)


def plan_restore(
    chain: Sequence[SavedState],
    changes: Sequence[Mapping[str, Change]],
    befores: Mapping[str, str | None] | None = None,
) -> RestorePlan:
    """Return the plan that takes the tree from the last state of a chain back to its first.

    A path that the user changed in between gets what he made of it last.

    Args:
        chain: The checkpoint to go back to, those after it, the present one.
        changes: What changed between each two neighbours.
        befores: Of files that a file tool changed since, the kept output with the bytes before; None
            where the tool made the file.
    """
    befores = befores or {}
    fates = _Fates()
    for before, after, changed in zip(chain, chain[1:], changes, strict=False):
        rules_changed = any(path.rpartition("/")[2] == IGNORE_FILE for path in changed)
        for path, change in (*changed.items(), *_of_folders(before, after)):
            _note(fates, path, change, after.by, befores)
            _note_bits(fates, path, before, after)
            is_newcomer = change.before is None and befores.get(path, "") is not None
            if is_newcomer and (rules_changed or after.is_partial):
                fates.unsure.add(path)
        for path, _ in before.modes.items() ^ after.modes.items():
            _note_bits(fates, path, before, after)
    outside = {path for state in chain for path in state.left_out}
    plan = _plan(fates, outside)
    return _with_bits(plan, fates, chain[-1].modes if chain else {})


def _with_bits(plan: RestorePlan, fates: _Fates, now: Modes) -> RestorePlan:
    """Add the permissions that files are to have, and files of which nothing else changes."""
    steps = [replace(step, bits=_bits_of(fates, step, now)) for step in plan.steps]
    settled = {*plan.left_alone, *(step.path for step in steps)}
    for path, wanted in fates.bits.items():
        is_there = fates.now.get(path, PERMISSIONS) is not None
        if is_there and path not in settled and wanted != now.get(path):
            steps.append(Step(path, PERMISSIONS, PERMISSIONS, _bits(fates, path)))
    return replace(plan, steps=tuple(sorted(steps, key=lambda step: step.path)))


def _note_bits(fates: _Fates, path: str, before: SavedState, after: SavedState) -> None:
    if path not in fates.bits:
        fates.bits[path] = before.modes.get(path)
    if after.by == "user":
        fates.bits[path] = after.modes.get(path)


def _bits(fates: _Fates, path: str) -> int:
    wanted = fates.bits.get(path)
    return USUAL if wanted is None else wanted


def _bits_of(fates: _Fates, step: Step, now: Modes) -> int | None:
    """Return the permissions for a file that gets another content; None where they are right already."""
    is_file = step.then is not None and step.then.mode.startswith(_REGULAR)
    return _bits(fates, step.path) if is_file and fates.bits.get(step.path) != now.get(step.path) else None


def _note(fates: _Fates, path: str, change: Change, by: Doer, befores: Mapping[str, str | None]) -> None:
    if path not in fates.first:
        first = change.before
        if first is None and (kept := befores.get(path)) is not None:
            # Outside the checkpoints until a file tool changed it: its bytes before were kept.
            first = Entry(KEPT_MODE, kept)
        fates.first[path] = fates.wanted[path] = first
    fates.now[path] = change.after
    if by == "user":
        fates.wanted[path] = change.after
        fates.of_user.add(path)


def _of_folders(before: SavedState, after: SavedState) -> list[tuple[str, Change]]:
    old, new = set(before.empty_folders), set(after.empty_folders)
    return [
        *((path, Change(FOLDER, None)) for path in sorted(old - new)),
        *((path, Change(None, FOLDER)) for path in sorted(new - old)),
    ]


def _plan(fates: _Fates, outside: set[str]) -> RestorePlan:
    steps: list[Step] = []
    left_alone: list[str] = []
    kept: list[str] = []
    for path in sorted(fates.now):
        now, wanted = fates.now[path], fates.wanted[path]
        if path in fates.of_user and wanted != fates.first[path]:
            kept.append(path)
        if now == wanted:
            continue
        if path in outside or (wanted is None and path in fates.unsure):
            left_alone.append(path)
        else:
            steps.append(Step(path, now, wanted))
    return RestorePlan(tuple(steps), tuple(kept), tuple(left_alone))


__all__ = ["FOLDER", "KEPT_MODE", "Doer", "RestorePlan", "SavedState", "Step", "plan_restore"]
