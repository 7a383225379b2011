"""Which traces there are, where they lie, and how one is named.

Must not read a trace whole: lists live on `meta.json`, or on the head and tail of `messages.jsonl`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from tori_tui.domain.events import PlanChanged, Record, RunStatusChanged, SessionNamed, TurnFinished
from tori_tui.domain.ids import TraceId
from tori_tui.domain.plan_edits import MissionOpened
from tori_tui.trace.codec import decode
from tori_tui.trace.errors import BadLine, TraceAmbiguous, TraceMissing, TraceTooNew
from tori_tui.trace.projections import META_NAME, TITLE_LIMIT_CHARS
from tori_tui.trace.store import BRANCHES_NAME, MESSAGES_NAME, is_being_written

ENDS_BYTES: Final = 65_536
"""Read of each end of a `messages.jsonl` whose `meta.json` is missing or old."""

CANDIDATES_LIMIT: Final = 10
"""Named in an error; more would hide its point."""

ID_PART_CHARS: Final = 4
"""As long as the last part of an id."""

TRACES_NAME: Final = ".trace"
LATEST: Final = "latest"


@dataclass(frozen=True, slots=True)
class TraceEntry:
    """One trace in a list."""

    id: TraceId
    path: Path
    mission: str
    """The beginning of the first mission's text; empty where none was found."""
    n_missions: int
    """As far as known without reading the whole trace."""
    status: str
    """A run's status, `interrupted` where its process is gone; empty where unknown."""
    model: str
    cost_usd: float | None
    created_at: datetime | None
    updated_at: datetime
    name: str = ""
    """What the user called it."""
    n_turns: int | None = None
    """None where it is not known without reading the whole trace."""


def list_traces(trace_root: Path) -> tuple[TraceEntry, ...]:
    """Return the traces of a folder, the newest change first; an empty tuple without the folder."""
    entries = (_entry(path) for path in _trace_paths(trace_root))
    return tuple(sorted(entries, key=lambda entry: (entry.updated_at, entry.id), reverse=True))


def search_traces(entries: Iterable[TraceEntry], words: str) -> tuple[TraceEntry, ...]:
    """Return the traces in whose id, name or mission every word stands, whatever its case.

    Of an id a short word must be the beginning, and stand alone: nearly each digit is in each id.
    """
    wanted = words.casefold().split()
    alone = wanted[0] if len(wanted) == 1 else None

    def fits(entry: TraceEntry) -> bool:
        text = f"{entry.name} {entry.mission}".casefold()
        in_id = (word for word in wanted if len(word) >= ID_PART_CHARS and word in entry.id)
        known = {*in_id, *(word for word in wanted if word in text)}
        return known >= set(wanted) or (alone is not None and entry.id.startswith(alone))

    return tuple(filter(fits, entries))


def find_trace(trace_root: Path, prefix: str | None) -> Path:
    """Return the directory of the one trace meant.

    Args:
        trace_root: The folder of traces.
        prefix: An id, its beginning, a session's name, or the path of a trace; None, empty or `latest` is the
            one that changed last. `TRACE/branches/N` is a branch of one.

    Raises:
        TraceMissing: None fits; the error names what there is.
        TraceAmbiguous: Several fit; the error names them.
    """
    paths = sorted(_trace_paths(trace_root), key=_changed_ns, reverse=True)
    if not prefix or prefix == LATEST:
        begun = (path for path in paths if _size_bytes(path / MESSAGES_NAME))
        newest = next(begun, None)
        if newest is None:
            raise TraceMissing(f"There is no trace in {trace_root}.", '`tori run "…"` makes one.')
        return newest
    if (Path(prefix) / MESSAGES_NAME).is_file():
        return Path(prefix)
    session, is_branch, branch = prefix.rstrip("/").rpartition(f"/{BRANCHES_NAME}/")
    if is_branch:
        return _branch_of(find_trace(trace_root, session), branch)
    fitting = [path for path in paths if path.name.startswith(prefix)]
    exact = [path for path in fitting if path.name == prefix]
    if exact or len(fitting) == 1:
        return (exact or fitting)[0]
    fitting = fitting or [path for path in paths if _entry(path).name == prefix]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise TraceAmbiguous(
            f"{prefix!r} fits {len(fitting)} traces: {_names(fitting)}.",
            "Give more of the id; `tori list` shows what each is about.",
        )
    known = f"There are: {_names(paths)}." if paths else "There is none yet."
    raise TraceMissing(f"No trace in {trace_root} begins with {prefix!r}.", known)


def _branch_of(session: Path, name: str) -> Path:
    """Return the trace of a branch; its newest where it was begun anew after a kill."""
    folders = sorted(_trace_paths(session / BRANCHES_NAME), key=_changed_ns)
    fitting = [path for path in folders if path.name == name or path.name.startswith(f"{name}-")]
    if fitting:
        return fitting[-1]
    known = f"There are: {_names(sorted(folders))}." if folders else "It has none."
    raise TraceMissing(f"{session.name} has no branch {name!r}.", known)


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def trace_root_for(cwd: Path) -> tuple[Path, bool]:
    """Return the folder of the traces made in a directory, and whether it is the fallback.

    It is `.trace` in the root of the git work tree, else in the directory itself; where that is a link or
    cannot be written, a folder of the user's state.
    """
    root = _work_tree_root(cwd.absolute())
    folder = root / TRACES_NAME
    # A link could have come with the repository, and lead anywhere.
    is_usable = not os.path.lexists(folder) or (folder.is_dir() and not folder.is_symlink())
    if is_usable and os.access(folder if folder.is_dir() else root, os.W_OK | os.X_OK):
        return folder, False
    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    state_home = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    return state_home / "tori" / "traces" / digest, True


def new_trace_id(now: datetime, token: str) -> TraceId:
    """Return an id that sorts by time, such as `20261130-101500-a3f9`."""
    return TraceId(f"{now:%Y%m%d-%H%M%S}-{token[:4]}")


def _work_tree_root(cwd: Path) -> Path:
    # `.git` is a file in linked work trees and submodules.
    return next((folder for folder in (cwd, *cwd.parents) if (folder / ".git").exists()), cwd)


def _trace_paths(trace_root: Path) -> Iterator[Path]:
    try:
        names = os.listdir(trace_root)
    except OSError:
        return
    for name in names:
        directory = os.path.join(trace_root, name)
        if os.path.isfile(os.path.join(directory, MESSAGES_NAME)) and not os.path.islink(directory):
            yield trace_root / name


def _names(paths: list[Path]) -> str:
    shown = ", ".join(path.name for path in paths[:CANDIDATES_LIMIT])
    return f"{shown}, …" if len(paths) > CANDIDATES_LIMIT else shown


def _changed_ns(path: Path) -> int:
    return os.stat(path / MESSAGES_NAME).st_mtime_ns


# ── one entry ────────────────────────────────────────────────────────────────────────────


class _MetaMission(msgspec.Struct):
    text: str


class _Meta(msgspec.Struct):
    updated: datetime
    created: datetime | None = None
    status: str = ""
    model: str = ""
    cost: float | None = None
    missions: tuple[_MetaMission, ...] = ()
    name: str = ""
    turns: int | None = None


_meta_decoder: Final = msgspec.json.Decoder(_Meta)


def _entry(path: Path) -> TraceEntry:
    meta = _fresh_meta(path)
    entry = _entry_of_ends(path) if meta is None else _entry_of_meta(path, meta)
    if entry.status in ("running", "waiting") and not is_being_written(path):
        return replace(entry, status="interrupted")
    return entry


def _fresh_meta(path: Path) -> _Meta | None:
    """Return what `meta.json` says, unless records came after it (a kill) or it cannot be read."""
    try:
        with open(path / META_NAME, "rb") as file:
            if os.fstat(file.fileno()).st_mtime_ns < _changed_ns(path):
                return None
            return _meta_decoder.decode(file.read())
    except (OSError, msgspec.MsgspecError, UnicodeError):
        return None


def _entry_of_meta(path: Path, meta: _Meta) -> TraceEntry:
    return TraceEntry(
        id=TraceId(path.name),
        path=path,
        mission=meta.missions[0].text if meta.missions else "",
        n_missions=len(meta.missions),
        status=meta.status,
        model=meta.model,
        cost_usd=meta.cost,
        created_at=meta.created,
        updated_at=meta.updated,
        name=meta.name,
        n_turns=meta.turns,
    )


def _entry_of_ends(path: Path) -> TraceEntry:
    with open(path / MESSAGES_NAME, "rb") as file:
        size_bytes, changed_s = os.fstat(file.fileno()).st_size, os.fstat(file.fileno()).st_mtime
        head = file.read(ENDS_BYTES).splitlines()
        file.seek(max(0, size_bytes - ENDS_BYTES))
        tail = file.read(ENDS_BYTES).splitlines()
    first = _first(head)
    last = _last(tail, b"")
    run = _last(tail, b'"kind":"run"') or _last(head, b'"kind":"run"')
    turn = _last(tail, b'"kind":"turn"')
    named = _last(tail, b'"kind":"name"') or _last(head, b'"kind":"name"')
    mission, n_missions = _mission_of(head)
    return TraceEntry(
        id=TraceId(path.name),
        path=path,
        mission=mission[:TITLE_LIMIT_CHARS],
        n_missions=n_missions,
        status=run.event.status if run and isinstance(run.event, RunStatusChanged) else "",
        model=turn.event.model if turn and isinstance(turn.event, TurnFinished) else "",
        cost_usd=None,
        created_at=first.at if first else None,
        updated_at=last.at if last else datetime.fromtimestamp(changed_s, UTC),
        name=named.event.name if named and isinstance(named.event, SessionNamed) else "",
        n_turns=turn.event.number if turn and isinstance(turn.event, TurnFinished) else None,
    )


def _record(line: bytes) -> Record | None:
    try:
        return decode(line)
    except (BadLine, TraceTooNew):
        return None


def _first(lines: list[bytes]) -> Record | None:
    return next(filter(None, map(_record, lines)), None)


def _last(lines: list[bytes], mark: bytes) -> Record | None:
    """Return the last record whose line holds a mark; only such lines are decoded."""
    return next(filter(None, (_record(line) for line in reversed(lines) if mark in line)), None)


def _mission_of(head: list[bytes]) -> tuple[str, int]:
    plans = (_record(line) for line in head if b'"op":"mission_opened"' in line)
    texts = [
        edit.text
        for record in plans
        if record is not None and isinstance(record.event, PlanChanged)
        for edit in record.event.edits
        if isinstance(edit, MissionOpened)
    ]
    return (texts[0], len(texts)) if texts else ("", 0)


__all__ = [
    "TraceEntry",
    "find_trace",
    "list_traces",
    "new_trace_id",
    "search_traces",
    "trace_root_for",
]
