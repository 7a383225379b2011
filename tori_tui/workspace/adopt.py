"""One branch's change on top of the work tree as it stands: three-way, whole or not at all.

Must not touch the user's index or repository, nor a file that is not as it was when the plan was made.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tori_tui.domain.errors import ToriError
from tori_tui.workspace.loose_objects import write_object
from tori_tui.workspace.merge_file import Hunk, merge_file
from tori_tui.workspace.restore import EXECUTABLE_MODE, FILE_MODE, LINK_MODE, Journal, begin, entry_at, forget
from tori_tui.workspace.restore_plan import Step
from tori_tui.workspace.shadow_git import BlobReader, GitFailed, ShadowGit, paths_of, ref_part
from tori_tui.workspace.tree_changes import Change, Entry, changes_between

INDEX_NAME: Final = "index.of-adopt"

FULL_FOLDER: Final = Entry("folder", "")
"""What `entry_at` says of a folder that holds something."""

_REGULAR: Final = (FILE_MODE, EXECUTABLE_MODE)


class AdoptFailed(ToriError):
    """The change could not be taken over; the work tree is as it was."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """One path that both sides changed."""

    path: str
    reason: str
    hunks: tuple[Hunk, ...] = ()


@dataclass(frozen=True, slots=True)
class Adoption:
    """What taking a change over means for the work tree: steps, unless there is a conflict."""

    steps: tuple[Step, ...] = ()
    conflicts: tuple[Conflict, ...] = ()


@dataclass(frozen=True, slots=True)
class _Move:
    """One changed path of the branch: where it was and where it is to be."""

    source: str
    target: str
    base: Entry | None
    theirs: Entry | None


@dataclass(slots=True)
class _Plan:
    """The steps so far, each path once."""

    steps: dict[str, Step] = field(default_factory=dict)
    conflicts: list[Conflict] = field(default_factory=list)

    def put(self, path: str, now: Entry | None, then: Entry | None) -> None:
        if now != then:
            self.steps[path] = Step(path, now, then)

    def clash(self, path: str, reason: str, hunks: Sequence[Hunk] = ()) -> None:
        self.conflicts.append(Conflict(path, reason, tuple(hunks)))


def plan_adoption(shadow: ShadowGit, base: str, patch: bytes, present: str | None = None) -> Adoption:
    """Return what it takes to bring a change to the work tree.

    Args:
        shadow: The checkpoints of the work tree.
        base: The saved tree from which the change was made.
        patch: The change.
        present: The newest saved tree, in which files that were renamed meanwhile are found.

    Raises:
        AdoptFailed: The patch is no change of that tree, or the tree is gone.
    """
    with shadow.locked():
        try:
            theirs = _patched(shadow, base, patch)
            (changes,) = changes_between(shadow, [(base, theirs)])
            moved = _renames(shadow, base, theirs)
            moved_here = _renames(shadow, base, present) if present else {}
        except GitFailed as error:
            raise AdoptFailed(f"The branch's change cannot be read any more: {error}") from error
        plan = _Plan()
        with shadow.blobs() as blobs:
            merging = _Merging(shadow, blobs, plan, moved_here)
            for move in _moves(changes, moved):
                merging.add(move)
        _check_ways(shadow.root, plan)
    if plan.conflicts:
        return Adoption(conflicts=tuple(sorted(plan.conflicts, key=lambda conflict: conflict.path)))
    return Adoption(tuple(sorted(plan.steps.values(), key=lambda step: step.path)))


def carry_out(shadow: ShadowGit, owner: str, steps: Sequence[Step]) -> None:
    """Change the work tree by a plan; a kill on the way leaves it to whoever works there next.

    Raises:
        AdoptFailed: A file changed meanwhile or could not be written; everything is as it was.
    """
    journal_owner = f"adopt-{ref_part(owner)}"
    with shadow.locked():
        # What is there now must be readable again, should half of it fail.
        _keep_present(shadow, steps)
    left_alone = begin(shadow, Journal(journal_owner, "", tuple(steps), {}))
    forget(shadow, journal_owner)
    if not left_alone:
        return
    done = [step for step in steps if step.path not in left_alone]
    back = tuple(Step(step.path, step.then, step.now) for step in done)
    stuck = begin(shadow, Journal(journal_owner, "", back, {}))
    forget(shadow, journal_owner)
    names = ", ".join(left_alone[:10])
    if stuck:
        raise AdoptFailed(
            f"{names} could not be changed, and {', '.join(stuck[:10])} not be taken back.",
            "Go back to before this turn, or mend them by hand.",
        )
    raise AdoptFailed(
        f"{names} changed meanwhile or could not be written; nothing was adopted.", "Try again."
    )


class _Merging:
    """Decides path by path, from what the branch found, what it made and what is there now."""

    def __init__(
        self, shadow: ShadowGit, blobs: BlobReader, plan: _Plan, moved_here: Mapping[str, str]
    ) -> None:
        self._shadow = shadow
        self._blobs = blobs
        self._plan = plan
        self._moved_here = moved_here

    def add(self, move: _Move) -> None:
        root, plan = self._shadow.root, self._plan
        source, target = self._places(move)
        ours = entry_at(root / source)
        if move.source != move.target:
            self._add_rename(move, source, ours)
        elif ours == move.base or (move.base is None and ours == FULL_FOLDER):
            # Whether such a folder goes away is known once every path is planned.
            plan.put(target, ours, move.theirs)
        elif ours != move.theirs and (merged := self._merged(target, move, ours)) is not None:
            plan.put(target, ours, merged)

    def _places(self, move: _Move) -> tuple[str, str]:
        """Return where the file stands here: elsewhere, if it was renamed since the branch began."""
        here = self._moved_here.get(move.source)
        is_away = here is not None and not os.path.lexists(self._shadow.root / move.source)
        if here is None or not is_away or move.theirs is None:
            return move.source, move.target
        return here, here if move.source == move.target else move.target

    def _add_rename(self, move: _Move, source: str, ours: Entry | None) -> None:
        plan, there = self._plan, entry_at(self._shadow.root / move.target)
        if ours is None and there is not None and there == move.theirs:
            return
        if source not in (move.source, move.target):
            plan.clash(move.source, f"renamed to {source} here and to {move.target} in the branch")
            return
        if source == move.target:
            there = None
        wanted = move.theirs if ours == move.base else self._merged(source, move, ours)
        if wanted is None:
            return
        if there is not None and there != wanted:
            plan.clash(move.target, f"the branch renames {move.source} to it, but it exists")
            return
        if source != move.target:
            plan.put(source, ours, None)
        plan.put(move.target, ours if source == move.target else there, wanted)

    def _merged(self, path: str, move: _Move, ours: Entry | None) -> Entry | None:
        """Return what both sides come to; None after noting a conflict."""
        base, theirs = move.base, move.theirs
        if theirs is None:
            self._plan.clash(path, "the branch removes it, and it was changed here")
        elif ours is None:
            self._plan.clash(path, "the branch changes it, and it was removed here")
        elif ours.mode not in _REGULAR or theirs.mode not in _REGULAR:
            self._plan.clash(path, "it is no plain file on one of the two sides, and both changed it")
        elif base is not None and base.mode not in _REGULAR:
            self._plan.clash(path, "both sides replaced it")
        else:
            return self._merged_file(path, base, theirs, ours)
        return None

    def _merged_file(self, path: str, base: Entry | None, theirs: Entry, ours: Entry) -> Entry | None:
        # Only the owner's permission to execute is git's to know, so modes never conflict.
        mode = theirs.mode if base is None or ours.mode == base.mode else ours.mode
        if ours.name == theirs.name or (base is not None and theirs.name == base.name):
            return Entry(mode, ours.name if self._known(path, ours) else theirs.name)
        if base is not None and ours.name == base.name:
            return Entry(mode, theirs.name)
        present = (self._shadow.root / path).read_bytes()
        before = self._blobs.read(base.name) if base is not None else b""
        wanted = self._blobs.read(theirs.name)
        if before is None or wanted is None:
            raise AdoptFailed(f"What the branch made of {path} is not there any more.")
        merge = merge_file(self._shadow, present, before, wanted)
        if merge.content is None:
            why = "both sides changed it" if base is not None else "both sides made it"
            self._plan.clash(path, why if merge.hunks else f"{why}, and it is no text", merge.hunks)
            return None
        return Entry(mode, _stored(self._shadow, merge.content))

    def _known(self, path: str, ours: Entry) -> bool:
        """Make sure that the present content can be written again, for a change of mode alone."""
        return _stored(self._shadow, (self._shadow.root / path).read_bytes()) == ours.name


def _moves(changes: Mapping[str, Change], renames: Mapping[str, str]) -> Iterator[_Move]:
    targets = set(renames.values())
    for path, change in sorted(changes.items()):
        if path in renames:
            target = renames[path]
            yield _Move(path, target, change.before, changes[target].after)
        elif path not in targets:
            yield _Move(path, path, change.before, change.after)


def _patched(shadow: ShadowGit, base: str, patch: bytes) -> str:
    """Return the tree that a patch makes of another one."""
    index = shadow.directory / INDEX_NAME
    index.unlink(missing_ok=True)
    try:
        shadow.run("read-tree", base, index=index)
        if patch:
            shadow.run("apply", "--cached", "--binary", "--whitespace=nowarn", "-", feed=patch, index=index)
        return shadow.run("write-tree", index=index).decode().strip()
    finally:
        index.unlink(missing_ok=True)


def _renames(shadow: ShadowGit, before: str, after: str) -> dict[str, str]:
    """Return the files that have another name in a later tree, by the name that they had."""
    listing = shadow.run("diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status", before, after)
    parts = paths_of(listing)
    return dict(zip(parts[1::3], parts[2::3], strict=True))


def _check_ways(root: Path, plan: _Plan) -> None:
    """Note a conflict wherever something stands in the way of a new file."""
    removed = {path for path, step in plan.steps.items() if step.then is None}
    for path, step in list(plan.steps.items()):
        if step.then is None:
            continue
        if step.now == FULL_FOLDER:
            if _is_emptied(root, root / path, removed):
                plan.steps[path] = Step(path, None, step.then)
            else:
                plan.clash(path, "a folder stands in its place")
        above = next((p for p in _parents(path) if _is_in_the_way(root / p) and p not in removed), None)
        if above is not None:
            plan.clash(path, f"{above} stands in its way")


def _is_emptied(root: Path, folder: Path, removed: set[str]) -> bool:
    paths = (Path(place, name) for place, _, names in os.walk(folder) for name in names)
    return all(path.relative_to(root).as_posix() in removed for path in paths)


def _parents(path: str) -> Iterator[str]:
    parts = path.split("/")[:-1]
    return ("/".join(parts[:end]) for end in range(1, len(parts) + 1))


def _is_in_the_way(path: Path) -> bool:
    try:
        return not stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def _keep_present(shadow: ShadowGit, steps: Sequence[Step]) -> None:
    for step in steps:
        path = shadow.root / step.path
        if step.now is not None and step.now.mode in (*_REGULAR, LINK_MODE):
            data = os.fsencode(os.readlink(path)) if step.now.mode == LINK_MODE else path.read_bytes()
            _stored(shadow, data)


def _stored(shadow: ShadowGit, data: bytes) -> str:
    return write_object(shadow.directory, "blob", data)


__all__ = ["AdoptFailed", "Adoption", "Conflict", "carry_out", "plan_adoption"]
