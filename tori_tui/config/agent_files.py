"""The user's own agents: `agents/NAME.md` with front matter and a prompt.

Must not follow a folder that nobody trusts, and names file, line and key of every error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, get_args

from tori_tui.config.markdown_files import NAME, bytes_of, markdown_files, text_of
from tori_tui.context.agents import agent_rules, built_in_agents
from tori_tui.domain.agents import SESSION_TOOLS, Agent
from tori_tui.domain.errors import UsageError
from tori_tui.domain.events import Mode
from tori_tui.domain.goals import Budget
from tori_tui.permission.folder_trust import AGENTS_NAME, FolderTrust, own_files

KEYS: Final = ("description", "model", "tools", "mode", "limits")
LIMIT_KEYS: Final = ("turns", "cost_usd", "seconds")

RESERVED_NAMES: Final = frozenset({"main", "close", "feedback", "farewell"})
"""Names of contexts of tori's own, and what `/agent` understands otherwise."""

_FENCE: Final = "---"


@dataclass(frozen=True, slots=True)
class _Entry:
    """One key of the front matter."""

    line: int
    value: str
    items: tuple[str, ...] = ()
    """The lines of a list below the key."""
    table: tuple[tuple[str, str, int], ...] = ()
    """The keys below it, each with its line."""


class AgentFolders:
    """Agents from the user's folder and, nearer to the work, from trusted folders of the project.

    Args:
        users: `$XDG_CONFIG_HOME/tori/agents`.
        of_project: `.tori/agents` of folders; the last one wins.
        is_trusted: Says of each of these, at every look, whether it counts as it is now; else its files
            are named, not read.
        tools: The tools that there are.
    """

    def __init__(
        self,
        users: Path,
        of_project: Sequence[Path] = (),
        is_trusted: Callable[[Path], bool] = lambda _: False,
        tools: Collection[str] = (),
    ) -> None:
        self._users = users
        self._of_project = tuple(of_project)
        self._is_trusted = is_trusted
        self._tools = frozenset(tools)

    def names(self) -> tuple[str, ...]:
        """Return the names of the files, sorted."""
        found = {path.stem for folder in self._folders() for path in markdown_files(folder)}
        return tuple(sorted(name for name in found if NAME.fullmatch(name)))

    def read(self, name: str) -> Agent | None:
        """Return an agent, or None without a file of its name.

        Raises:
            UsageError: The file is wrong; names file, line and key.
        """
        if not NAME.fullmatch(name):
            return None
        for folder in reversed(self._folders()):
            path = folder / f"{name}.md"
            if path.is_file():
                return read_agent(path, self._tools)
        return None

    def unread(self, name: str) -> Path | None:
        """Return the file of that name in a folder that is not trusted."""
        if not NAME.fullmatch(name):
            return None
        paths = [folder / f"{name}.md" for folder in self._of_project if not self._is_trusted(folder)]
        return next((path for path in paths if path.is_file()), None)

    def _folders(self) -> tuple[Path, ...]:
        return (self._users, *filter(self._is_trusted, self._of_project))


def agent_folders(config_dir: Path, state_dir: Path, cwd: Path, tools: Collection[str] = ()) -> AgentFolders:
    """Return the agents of the user and of the folder in which tori works."""
    trust = FolderTrust(state_dir)
    own = own_files(cwd)
    of_project = () if own is None else (own.folder / AGENTS_NAME,)
    return AgentFolders(config_dir / "agents", of_project, lambda agents: trust.counts(agents.parent), tools)


def agent_names(config_dir: Path, state_dir: Path, cwd: Path) -> tuple[str, ...]:
    """Return the names of the agents that the user can choose, tori's own first."""
    own = agent_folders(config_dir, state_dir, cwd).names()
    built_in = tuple(agent.name for agent in built_in_agents())
    return (*built_in, *(name for name in own if name not in built_in))


def read_agent(path: Path, tools: frozenset[str]) -> Agent:
    """Read one file.

    Raises:
        UsageError: It cannot be read, or its front matter is wrong.
    """
    name = path.stem
    if name in RESERVED_NAMES or name in {agent.name for agent in built_in_agents()}:
        raise UsageError(f"{path}: the name {name!r} is tori's own.", "Give the file another name.")
    entries, prompt = _split(path, text_of(path, bytes_of(path)))
    if not prompt.strip():
        raise UsageError(f"{path}: there is no prompt behind the front matter.", "Write its rules there.")
    read = _Reader(path, entries)
    return Agent(
        name=name,
        description=read.text("description"),
        prompt=agent_rules(prompt),
        tools=read.tools(tools),
        mode=read.mode(),
        model=read.text("model"),
        limits=read.limits(),
        ending="answer" if read.mode() == "plan" else "mission",
    )


class _Reader:
    """Reads the keys of one file's front matter."""

    def __init__(self, path: Path, entries: Mapping[str, _Entry]) -> None:
        self._path = path
        self._entries = entries

    def text(self, key: str) -> str:
        entry = self._entries.get(key)
        if entry is None:
            return ""
        if entry.items or entry.table:
            raise self._error(entry.line, key, "a text on its line")
        return _unquoted(entry.value)

    def mode(self) -> Mode | Literal[""]:
        entry = self._entries.get("mode")
        if entry is None:
            return ""
        said = self.text("mode")
        mode: Mode
        for mode in get_args(Mode):
            if mode == said:
                return mode
        raise self._error(entry.line, "mode", f"one of {', '.join(get_args(Mode))}; it is {said!r}")

    def tools(self, known: frozenset[str]) -> tuple[str, ...]:
        entry = self._entries.get("tools")
        if entry is None:
            return ()
        if entry.table:
            raise self._error(entry.line, "tools", "a list of names")
        listed = entry.items or tuple(entry.value.strip("[]").split(","))
        names = tuple(_unquoted(name) for name in listed if name.strip())
        for name in names:
            if name not in known and name not in SESSION_TOOLS:
                raise self._error(entry.line, "tools", f"tools that there are; {name!r} is none")
        # An empty list is not the same as no list: only the session's own tools are left.
        return names or tuple(sorted(SESSION_TOOLS))

    def limits(self) -> Budget:
        entry = self._entries.get("limits")
        if entry is None:
            return Budget()
        table = entry.table or tuple(_inline_table(entry))
        if not table:
            raise self._error(entry.line, "limits", f"keys below it: {', '.join(LIMIT_KEYS)}")
        found: dict[str, float] = {}
        for key, value, line in table:
            if key not in LIMIT_KEYS:
                raise self._error(line, f"limits.{key}", f"one of {', '.join(LIMIT_KEYS)}")
            found[key] = self._number(key, value, line)
        turns = found.get("turns")
        return Budget(int(turns) if turns is not None else None, found.get("cost_usd"), found.get("seconds"))

    def _number(self, key: str, value: str, line: int) -> float:
        try:
            number = float(value)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf") or (key == "turns" and not number.is_integer()):
            kind = "a whole number over 0" if key == "turns" else "a number over 0"
            raise self._error(line, f"limits.{key}", f"{kind}; it is {value!r}")
        return number

    def _error(self, line: int, key: str, wanted: str) -> UsageError:
        return UsageError(f"{self._path}:{line}: the value of {key!r} must be {wanted}.", "Mend that line.")


def _split(path: Path, text: str) -> tuple[dict[str, _Entry], str]:
    """Return the front matter's entries and the prompt; a file without front matter is all prompt."""
    lines = text.split("\n")
    if lines[0].strip() != _FENCE:
        return {}, text
    ends = [number for number, line in enumerate(lines) if number and line.strip() == _FENCE]
    if not ends:
        raise UsageError(f"{path}:1: the front matter has no end.", f"Close it with a line of {_FENCE}.")
    return _entries(path, lines[1 : ends[0]]), "\n".join(lines[ends[0] + 1 :])


def _entries(path: Path, lines: Sequence[str]) -> dict[str, _Entry]:
    entries: dict[str, _Entry] = {}
    at = ""
    for number, line in enumerate(lines, 2):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if line[0].isspace() or stripped.startswith("- "):
            entries[at] = _with_line(path, entries.get(at), stripped, number)
            continue
        key, colon, value = stripped.partition(":")
        at = key.strip()
        if not colon:
            raise UsageError(f"{path}:{number}: {stripped[:80]!r} has no colon.", "Write KEY: VALUE.")
        if at not in KEYS:
            raise UsageError(f"{path}:{number}: there is no key {at!r}.", f"Keys: {', '.join(KEYS)}.")
        if at in entries:
            raise UsageError(f"{path}:{number}: the key {at!r} stands there twice.", "Keep one of them.")
        entries[at] = _Entry(number, value.strip())
    return entries


def _with_line(path: Path, entry: _Entry | None, line: str, number: int) -> _Entry:
    """Return an entry with one more line of a list or a table below it."""
    if entry is None or entry.value:
        raise UsageError(f"{path}:{number}: {line[:80]!r} belongs to no key.", "Write KEY: VALUE.")
    if line.startswith("- "):
        return _Entry(entry.line, "", (*entry.items, line[2:].strip()), entry.table)
    key, colon, value = line.partition(":")
    if not colon:
        raise UsageError(f"{path}:{number}: {line[:80]!r} has no colon.", "Write KEY: VALUE.")
    return _Entry(entry.line, "", entry.items, (*entry.table, (key.strip(), _unquoted(value), number)))


def _inline_table(entry: _Entry) -> Iterator[tuple[str, str, int]]:
    for part in entry.value.strip("{}").split(","):
        key, _, value = part.partition(":" if ":" in part else "=")
        if key.strip():
            yield key.strip(), _unquoted(value), entry.line


def _unquoted(text: str) -> str:
    plain = text.strip()
    is_quoted = len(plain) > 1 and plain[0] == plain[-1] and plain[0] in "\"'"
    return plain[1:-1] if is_quoted else plain


__all__ = ["AgentFolders", "agent_names", "read_agent"]
