"""Explore calls against a scripted model that knows its branches by their directions.

Must not be cleverer than its scripts: each branch, and the one who explores, has a list of replies.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fakes.provider import ScriptedProvider, ScriptedReply, Turn
from tests.fakes.session import scripted
from tests.wire.answers import WireRequest
from tori_tui.domain.request import ModelRequest
from tori_tui.domain.state import SessionState
from tori_tui.providers.base import StreamEvent

SENT_OUT = "You are branch "

READ = ScriptedReply("I look.", (scripted("glob_files", {"pattern": "*"}),))
"""A turn of research."""


def explores(*directions: str, **wishes: object) -> ScriptedReply:
    return ScriptedReply("", (scripted("explore", {"branches": list(directions), **wishes}),))


def adopts(branch: str) -> ScriptedReply:
    return ScriptedReply("", (scripted("adopt", {"branch": branch}),))


def writes(path: str, content: str) -> ScriptedReply:
    return ScriptedReply("", (scripted("write_file", {"path": path, "content": content}),))


def edits(path: str, old: str, new: str) -> ScriptedReply:
    call = scripted("edit_file", {"path": path, "old": old, "new": new})
    return ScriptedReply("", (scripted("read_file", {"path": path}), call))


def runs(command: str) -> ScriptedReply:
    return ScriptedReply("", (scripted("bash", {"command": command}),))


@dataclass
class Cast:
    """A provider that gives each branch, found by a word of its direction, its own replies in order."""

    parent: Sequence[Turn]
    branches: Mapping[str, Sequence[Turn]] = field(default_factory=dict)
    requests: dict[str, list[ModelRequest]] = field(default_factory=dict)
    n_running: int = 0
    most_running: int = 0
    name: str = "scripted"

    async def prepare(self) -> None: ...

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamEvent, None]:
        who = self.who(request)
        asked = self.requests.setdefault(who, [])
        asked.append(request)
        turns = self.branches[who] if who else self.parent
        if len(asked) > len(turns):
            raise AssertionError(f"{who or 'the parent'} asks for turn {len(asked)} of {len(turns)}")
        self.n_running += bool(who)
        self.most_running = max(self.most_running, self.n_running)
        try:
            async for event in ScriptedProvider([turns[len(asked) - 1]]).stream(request):
                yield event
        finally:
            self.n_running -= bool(who)

    def who(self, request: ModelRequest) -> str:
        said = [m.text for m in request.messages if m.role == "user" and m.text.startswith(SENT_OUT)]
        if not said:
            return ""
        direction = said[-1].split("Yours:\n\n", 1)[1].split("\n\n", 1)[0]
        return next(word for word in self.branches if word in direction)

    async def close(self) -> None: ...


def results(state: SessionState, name: str = "explore") -> list[str]:
    return [e.message.text for e in state.log if e.message.role == "tool" and e.message.name == name]


def rows(report: str) -> list[list[str]]:
    """Return the table of a report without its head."""
    table = next(part for part in report.split("\n\n") if part.startswith("branch |"))
    return [line.split(" | ") for line in table.splitlines()[1:]]


def repository(root: Path, files: Mapping[str, str]) -> Path:
    root.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


def git(root: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True
    )
    return done.stdout


def copies_of(root: Path) -> list[Path]:
    """Return what is left of copies in the state folder of a driven session."""
    return list((root.parent / f"{root.name}-home" / "state" / "tori").glob("copies/*"))


def direction_of(request: WireRequest) -> str:
    """Return the direction of the branch that asks; empty for the one who explores."""
    sent_out = [text for text in request.user_texts if SENT_OUT in text]
    return sent_out[-1].split("Yours:\n\n", 1)[1].split("\n", 1)[0] if sent_out else ""


async def until(condition: Callable[[], bool], limit_s: float = 10) -> None:
    for _ in range(int(limit_s * 200)):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it never came to that")


def json_of(path: Path) -> dict[str, object]:
    content: dict[str, object] = json.loads(path.read_text())
    return content
