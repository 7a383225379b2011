"""Textual's Unix driver with an input that no byte can kill.

Must not interpret keys; it only makes text of bytes, finds pastes that no bracket marks, and ends
the app when the terminal goes away.
"""

from __future__ import annotations

import errno
import os
import re
import selectors
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import ClassVar, Final

from textual import events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

READ_BYTES: Final = 4_096

POLL_S: Final = 0.1
"""How soon the thread notices that it is to end; also the parser's clock for a lone Escape."""

PASTE_CHARS: Final = 48
"""So many printable characters in one read were not typed: no hand is that fast."""

_OTHER_KEYS: Final = re.compile(r"\x1b\[27;(\d+);(\d+)~")
"""A modified key as xterm's modifyOtherKeys writes it: modifier, code."""

_LATE_ANSWER: Final = re.compile(r"\x1b\]\d+;[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[\?[\d;]*c")
"""What the terminal says of its colours and abilities after nobody waits for it any more."""

_REPLACEMENT: Final = "\ufffd"


class TerminalHungUp(Message):
    """The terminal is gone."""


class TerminalDriver(LinuxDriver):
    """Reads bytes tolerantly and knows a paste from typing."""

    early_input: ClassVar[bytes] = b""
    """What was read before the driver started."""
    restore: ClassVar[Callable[[], None]] = staticmethod(lambda: None)
    """Gives the terminal the settings that it had before anything was changed."""

    def stop_application_mode(self) -> None:
        """Give the terminal back as it was before the program began, also for the time of a Ctrl+Z."""
        super().stop_application_mode()
        type(self).restore()

    def write(self, data: str) -> None:
        """Write; after the terminal is gone nothing is written and nothing waits."""
        if self._writer_thread is not None and self._writer_thread.is_alive():
            super().write(data)

    def _run_input_thread(self) -> None:
        try:
            self.run_input_thread()
        except Exception as error:
            self._app.call_later(self._app._handle_exception, error)

    def run_input_thread(self) -> None:
        """Read until the driver stops or the terminal goes away."""
        selector = selectors.SelectSelector()
        selector.register(self.fileno, selectors.EVENT_READ)
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        early, type(self).early_input = type(self).early_input, b""
        try:
            self._feed(parser, decode(early), is_full=False)
            while not self.exit_event.is_set():
                if selector.select(POLL_S):
                    data = self._read()
                    if not data:
                        self.send_message(TerminalHungUp())
                        return
                    self._feed(parser, decode(data), is_full=len(data) == READ_BYTES)
                for message in parser.tick():
                    self.process_message(message)
        finally:
            selector.close()
            try:
                for _ in parser.feed(""):
                    pass
            except (EOFError, ParseError):
                pass

    def _read(self) -> bytes:
        try:
            return os.read(self.fileno, READ_BYTES)
        except OSError as error:
            if error.errno in (errno.EIO, errno.EBADF):
                return b""
            raise

    def _feed(self, parser: XTermParser, text: str, *, is_full: bool) -> None:
        text = _OTHER_KEYS.sub("\x1b[\\2;\\1u", _LATE_ANSWER.sub("", text))
        for part in split_pastes(text, is_full=is_full):
            if isinstance(part, events.Paste):
                self.process_message(part)
                continue
            if not part:
                continue  # to the parser this is the end of all input
            for message in parser.feed(part):
                if not _is_rubbish(message):
                    self.process_message(message)


def split_pastes(text: str, *, is_full: bool) -> Iterator[str | events.Paste]:
    """Yield keys as text, and as a paste what came too fast to be typed.

    Args:
        text: What one read gave.
        is_full: The read gave all it could, so that more of the same follows.
    """
    body = text if is_full else text.rstrip("\r\n")
    end = text[len(body) :]
    if "\x1b" in text or len(body) < 2:
        yield text
        return
    has_line_break = "\r" in body or "\n" in body
    is_printable = all(character.isprintable() or character in "\r\n\t" for character in body)
    if is_printable and (len(body) >= PASTE_CHARS or (has_line_break and len(body) > 2)):
        yield events.Paste(body)
        if end:
            yield end
    else:
        yield text


def _is_rubbish(message: Message) -> bool:
    return isinstance(message, events.Key) and message.character == _REPLACEMENT


__all__ = ["PASTE_CHARS", "TerminalDriver", "TerminalHungUp", "split_pastes"]
