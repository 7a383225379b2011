"""Images that the user shows: from a path as a terminal or a hand writes it, or from the clipboard.

Must not decode pixels and must not run on the loop. Nothing is written.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from stat import S_ISREG
from typing import Final
from urllib.parse import unquote, urlsplit

from tori_tui.domain.errors import ToriError
from tori_tui.domain.shown_image import ShownImage
from tori_tui.workspace.images import IMAGE_LIMIT_BYTES, image_part, pixel_size
from tori_tui.workspace.programs import find_program

CLIPBOARD: Final = "clipboard"

CLIPBOARD_LIMIT_S: Final = 5.0
"""A clipboard's owner that has died would be waited for without end."""


class ImageUnusable(ToriError):
    """There is a file, and it cannot be shown."""


class _NotRegular(Exception):
    """A folder, a pipe, a device."""


_DISPLAY_VARIABLES: Final = ("PATH", "HOME", "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR")

Run = Callable[[Sequence[str]], bytes]
"""Runs a command and returns what it printed; raises where it fails or takes too long."""


def image_at(folder: Path, word: str) -> ShownImage | None:
    """Return the image that a path names, or None where there is no such file.

    Args:
        folder: What a relative path is relative to.
        word: A path: plain, with `~`, or an address `file://…`.

    Raises:
        ImageUnusable: The file is no image that a model takes.
    """
    path = _path_of(folder, word)
    try:
        with open(path, "rb", opener=_regular) as file:
            size_bytes = os.fstat(file.fileno()).st_size
            data = file.read() if size_bytes <= IMAGE_LIMIT_BYTES else b""
    except (FileNotFoundError, NotADirectoryError, _NotRegular, ValueError):
        return None
    except OSError as error:
        raise ImageUnusable(f"{word} cannot be read: {error.strerror}.") from None
    return _shown(data, size_bytes, path.name, word)


def clipboard_image(environ: Mapping[str, str], root: Path, run: Run | None = None) -> ShownImage:
    """Return the image that the clipboard holds.

    Args:
        environ: Says which clipboard there is, and where programs are.
        root: The work tree, of which no program is run.
        run: What runs a program; its own way if left out.

    Raises:
        ImageUnusable: It holds none, or no program is there to read it.
    """
    is_known = False
    for name, *arguments in _readers(environ):
        program = find_program(name, environ, root)
        if program is None:
            continue
        is_known = True
        try:
            data = (run or _printed_by(environ))([program, *arguments])
        except (OSError, subprocess.SubprocessError):
            continue
        if data:
            return _shown(data, len(data), CLIPBOARD, "")
    if is_known:
        raise ImageUnusable(
            "The clipboard holds no image.", "Copy one, or write its path as @picture.png in the message."
        )
    raise ImageUnusable(
        "No program is here that reads an image from the clipboard.",
        "Install wl-clipboard (Wayland), xclip (X11) or pngpaste (macOS); over ssh, copy the file to this "
        "machine and write its path as @picture.png in the message.",
    )


def _printed_by(environ: Mapping[str, str]) -> Run:
    """Return what runs a command that needs no more than a display; it is gone when its time is over."""
    own = {name: environ[name] for name in _DISPLAY_VARIABLES if name in environ}

    def run(command: Sequence[str]) -> bytes:
        done = subprocess.run(
            command,
            env=own,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=CLIPBOARD_LIMIT_S,
            check=True,
        )
        return done.stdout

    return run


def _readers(environ: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    wayland = ("wl-paste", "--no-newline", "--type", "image/png")
    x11 = ("xclip", "-selection", "clipboard", "-target", "image/png", "-out")
    return (
        *((wayland,) if environ.get("WAYLAND_DISPLAY") else ()),
        *((x11,) if environ.get("DISPLAY") else ()),
        ("pngpaste", "-"),
    )


def _path_of(folder: Path, word: str) -> Path:
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    return folder / os.path.expanduser(word)


def _regular(path: str, flags: int) -> int:
    """Open a file without waiting for a pipe's other end; only a regular one."""
    descriptor = os.open(path, flags | os.O_NONBLOCK)
    if S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise _NotRegular(path)


def _shown(data: bytes, size_bytes: int, name: str, word: str) -> ShownImage:
    if size_bytes > IMAGE_LIMIT_BYTES:
        raise ImageUnusable(
            f"{word or name} is too large to be shown: {size_bytes / 1e6:.1f} MB of at most "
            f"{IMAGE_LIMIT_BYTES / 1e6:.1f} MB.",
            "Make it smaller, or save it as JPEG.",
        )
    part = image_part(data)
    if part is None:
        raise ImageUnusable(
            f"{word or name} is no whole PNG, JPEG, GIF or WebP image.",
            "It may be cut off, or be another kind of file under that name.",
        )
    width, height = pixel_size(data) or (0, 0)
    return ShownImage(name, part, width, height, word)


__all__ = ["ImageUnusable", "Run", "clipboard_image", "image_at"]
