"""What is fuzzed: each target takes a source of chance and raises only what it may not.

Must not need a network, a key or a terminal.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

from textual._xterm_parser import XTermParser
from textual.events import Key
from textual.message import Message

from tests.providers.test_streams import CASES, decoded
from tori_tui.permission.shell.analysis import analyse
from tori_tui.providers.errors import ProviderError
from tori_tui.trace.errors import TraceError
from tori_tui.trace.store import MESSAGES_NAME, JsonlTraceStore
from tori_tui.ui.driver import TerminalDriver
from tori_tui.ui.pastes import Pastes
from tori_tui.workspace.edits import EditRefused, replace_text

GOLDEN = Path(__file__).parent.parent / "trace" / "golden" / "demo-0.1.0" / MESSAGES_NAME

SLOW_S = 2.0
"""No small input may take longer, on a busy machine too."""

PIECES = (
    *("\x1b[200~", "\x1b[201~", "\x1b[", "\x1bO", "\x1b", "\x1b]0;", "\x07", "\x1b[<0;3;4M", "\x1b[?2048$y"),
    *("a", "Z", "\r", "\n", "\t", "\x00", "\x7f", "é", "中", "🙂", "\u200d", "\ud83d", "0123456789;", "~"),
)

SHELL_PIECES = (
    *("ls", "rm -rf /", "git status", "sort -o x y", "$(", ")", "`", '"', "'", "\\", "|", "||", "&&", ";"),
    *(
        "{",
        "}",
        "((",
        "))",
        "[[",
        "]]",
        "<<EOF\n",
        "EOF\n",
        "<(",
        ">",
        ">>",
        "2>&1",
        "&",
        "\n",
        " ",
        "#",
        "!",
    ),
    *(
        "if ",
        "then ",
        "fi",
        "for x in ",
        "do ",
        "done",
        "case ",
        "esac",
        "f() ",
        "$x",
        "${x:-",
        "*",
        "~",
        "é",
    ),
)


def _mutated(data: bytes, rng: random.Random) -> bytes:
    """Return the bytes with a few places cut, doubled, swapped or made random."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(4):
            case 0:
                del changed[at : at + rng.randrange(40)]
            case 1:
                changed[at:at] = rng.randbytes(rng.randrange(12))
            case 2:
                changed[at:at] = changed[at : at + rng.randrange(60)]
            case _:
                changed[at : at + 1] = bytes((rng.randrange(256),))
    return bytes(changed)


def stream(rng: random.Random) -> None:
    """Decode a broken stream of any protocol: an answer, or an error that says what is wrong."""
    case = rng.choice(CASES)
    data = _mutated(case.stream, rng)
    cut = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(4)))
    chunks = [data[first:last] for first, last in zip([0, *cut], [*cut, len(data)], strict=True)]
    with suppress(ProviderError):
        asyncio.run(decoded(case.protocol, *chunks))


def trace(rng: random.Random) -> None:
    """Open a damaged trace: what is whole comes back, nothing but a trace's own error is raised."""
    with tempfile.TemporaryDirectory(prefix="tori-fuzz-") as folder:
        directory = Path(folder)
        (directory / MESSAGES_NAME).write_bytes(_mutated(GOLDEN.read_bytes(), rng))
        with suppress(TraceError), JsonlTraceStore.open(directory) as store:
            store.load()


def edit(rng: random.Random) -> None:
    """Edit random bytes: refused, or changed nowhere but where the old text stood."""
    words = ["a", "b", "  ", "\n", "\r\n", "\t", "“", '"', "é", "中", "x = 1", "\x00", "\ufeff"]
    text = "".join(rng.choice(words) for _ in range(rng.randrange(60)))
    data = _mutated(text.encode(rng.choice(("utf-8", "utf-8", "utf-16", "latin-1")), "ignore"), rng)
    first = rng.randrange(len(text) + 1)
    old = text[first : first + rng.randrange(1, 12)] or "a"
    new = "".join(rng.choice(words) for _ in range(rng.randrange(6)))
    try:
        result = replace_text(data, old, new, rng.random() < 0.3)
    except EditRefused:
        return
    start = next((i for i, (x, y) in enumerate(zip(data, result.data, strict=False)) if x != y), None)
    if start is None:
        return
    room = max(len(old), len(new)) * 4 + 8
    if result.n_replaced == 1:
        tail = len(data) - start - room
        assert tail <= 0 or result.data.endswith(data[len(data) - tail :]), "bytes behind the edit changed"


def shell(rng: random.Random) -> None:
    """Analyse a random command: some class, in a moment."""
    command = "".join(rng.choice(SHELL_PIECES) for _ in range(rng.randrange(40)))
    began = time.perf_counter()
    analyse(command)
    assert time.perf_counter() - began < SLOW_S, f"slow: {command!r}"


class ReadingDriver(TerminalDriver):
    """The part of the driver that makes keys of bytes, without a terminal."""

    def __init__(self) -> None:
        self._debug = False
        self._parser = XTermParser()
        self.taken: list[Message] = []

    def read(self, text: str) -> None:
        self._feed(iter((text,)))

    def process_message(self, message: Message) -> None:
        self.taken.append(message)


def keys(rng: random.Random) -> None:
    """Read random keys, pastes and sequences in random pieces; every key is one that can be written."""
    text = "".join(rng.choice(PIECES) for _ in range(rng.randrange(80)))
    data = _mutated(text.encode("utf-8", "replace"), rng)
    decode = getincrementaldecoder("utf-8")("replace").decode
    driver, pastes = ReadingDriver(), Pastes()
    at = 0
    while at < len(data):
        n = rng.randint(1, 30)
        driver._feed(pastes.feed(decode(data[at : at + n]), is_full=rng.random() < 0.3))
        at += n
    driver._feed(pastes.wait(10.0))
    for message in driver.taken:
        if isinstance(message, Key):
            (message.character or "").encode()


TARGETS: Mapping[str, Callable[[random.Random], None]] = MappingProxyType(
    {"stream": stream, "trace": trace, "edit": edit, "shell": shell, "keys": keys}
)

__all__ = ["TARGETS", "ReadingDriver"]
