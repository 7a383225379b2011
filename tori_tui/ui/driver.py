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
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import ClassVar, Final

from textual import events
from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from tori_tui.ui.pastes import Part, Pastes

READ_BYTES: Final = 4_096

POLL_S: Final = 0.1
"""How soon the thread notices that it is to end; also the parser's clock for a lone Escape."""

_OTHER_KEYS: Final = re.compile(r"\x1b\[27;(\d+);(\d+)~")
"""A modified key as xterm's modifyOtherKeys writes it: modifier, code."""

_ALT_ENTER: Final = "\x1b\r"
"""As terminals without a key protocol write it; Textual's parser takes it for Escape and then Enter."""

_LATE_ANSWER: Final = re.compile(r"\x1b\]\d+;[^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[\?[\d;]*c")
"""What the terminal says of its colours and abilities after nobody waits for it any more."""

_REPLACEMENT: Final = "\ufffd"


class TerminalHungUp(Message):
    """The terminal is gone."""


class TerminalDriver(LinuxDriver):
    """Reads bytes tolerantly and knows a paste from typing."""

    early_input: ClassVar[bytes] = b""
    """What was read before the driver started."""
    keeps_input: ClassVar[bool] = False
    """Whether what is typed from now on is meant for the app that follows this one."""
    restore: ClassVar[Callable[[], None]] = staticmethod(lambda: None)
    """Gives the terminal the settings that it had before anything was changed."""

    def stop_application_mode(self) -> None:
        """Give the terminal back as it was before the program began, also for the time of a Ctrl+Z."""
        super().stop_application_mode()
        if not type(self).keeps_input:
            type(self).restore()

    def disable_input(self) -> None:
        """Read no more; what is still to be read is thrown away, unless an app follows."""
        if not type(self).keeps_input:
            super().disable_input()
            return
        self._disable_mouse_support()
        self.exit_event.set()
        if self._key_thread is not None:
            self._key_thread.join()

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
        self._parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")("replace").decode
        pastes = Pastes()
        early, type(self).early_input = type(self).early_input, b""
        try:
            self._feed(pastes.feed(decode(early), is_full=False))
            while not self.exit_event.is_set():
                if selector.select(POLL_S):
                    data = self._read()
                    if not data:
                        self.send_message(TerminalHungUp())
                        return
                    if type(self).keeps_input:
                        type(self).early_input += data
                        continue
                    self._feed(pastes.feed(decode(data), is_full=len(data) == READ_BYTES))
                else:
                    self._feed(pastes.wait(POLL_S))
                self._take(self._parser.tick)
        finally:
            selector.close()
            try:
                for _ in self._parser.feed(""):
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

    def _feed(self, parts: Iterator[Part]) -> None:
        for part in parts:
            if isinstance(part, events.Paste):
                self.process_message(part)
                continue
            keys = _plain(part)
            if not keys:
                continue  # to the parser this is the end of all input
            self._take(partial(self._parser.feed, keys))

    def _take(self, read: Callable[[], Iterable[Message]]) -> None:
        """Hand on what the parser finds; a sequence that it stumbles over is dropped with its parser."""
        try:
            for message in read():
                if not _is_rubbish(message):
                    self.process_message(message)
        except (ValueError, OverflowError):
            # A number that no character or place has. The parser's generator is dead after it.
            self._parser = XTermParser(self._debug)


def _plain(text: str) -> str:
    return _OTHER_KEYS.sub("\x1b[\\2;\\1u", _LATE_ANSWER.sub("", text)).replace(_ALT_ENTER, "\x1b[13;3u")


def _is_rubbish(message: Message) -> bool:
    """Whether it is a key without a character that could be written: of broken bytes, or half of one."""
    if not isinstance(message, events.Key) or message.character is None:
        return False
    return message.character == _REPLACEMENT or "\ud800" <= message.character <= "\udfff"


__all__ = ["TerminalDriver", "TerminalHungUp"]
