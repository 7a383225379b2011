from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.runtime.test_images import png
from tori_tui.workspace.images import IMAGE_LIMIT_BYTES, pixel_size
from tori_tui.workspace.shown_images import ImageUnusable, clipboard_image, image_at

JPEG = (
    b"\xff\xd8\xff\xe0\x00\x04\x00\x00\xff\xff\xc0\x00\x11\x08\x01\xe0\x02\x80\x03" + b"\0" * 9 + b"\xff\xd9"
)
GIF = b"GIF89a\x80\x02\xe0\x01\0\0\0\x3b"


def webp(chunk: bytes) -> bytes:
    return b"RIFF" + (len(chunk) + 4).to_bytes(4, "little") + b"WEBP" + chunk


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (png(), (1, 1)),
        (JPEG, (640, 480)),
        (GIF, (640, 480)),
        (webp(b"VP8X\x0a\0\0\0\0\0\0\0\x7f\x02\0\xdf\x01\0"), (640, 480)),
        (webp(b"VP8L\x05\0\0\0\x2f" + (639 | 479 << 14).to_bytes(4, "little")), (640, 480)),
        (webp(b"VP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x80\x02\xe0\x01"), (640, 480)),
        (b"\xff\xd8\xff\xd9", None),
        (b"no image", None),
    ],
)
def test_the_head_tells_the_size(data: bytes, size: tuple[int, int] | None) -> None:
    assert pixel_size(data) == size


def test_a_path_is_read_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "中 1.png").write_bytes(png())
    for word in ("中 1.png", str(tmp_path / "中 1.png"), f"file://{tmp_path}/%E4%B8%AD%201.png"):
        image = image_at(tmp_path, word)
        assert image is not None
        assert image.label == "中 1.png 1×1"
    os.mkfifo(tmp_path / "pipe.png")
    for word in ("none.png", ".", "pipe.png", "a.png/b.png", "\0.png"):
        assert image_at(tmp_path, word) is None


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"\x89PNG\r\n\x1a\n" + b"\0" * IMAGE_LIMIT_BYTES, "too large to be shown: 1.5 MB of at most 1.5 MB"),
        (png()[:-4], "no whole PNG, JPEG, GIF or WebP"),
        (b"", "no whole PNG"),
    ],
)
def test_what_no_model_takes_is_named(tmp_path: Path, data: bytes, told: str) -> None:
    (tmp_path / "x.png").write_bytes(data)
    with pytest.raises(ImageUnusable, match=told):
        image_at(tmp_path, "x.png")


@pytest.mark.skipif(os.geteuid() == 0, reason="kernel: root reads everything")
def test_what_may_not_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(png())
    (tmp_path / "x.png").chmod(0)
    with pytest.raises(ImageUnusable, match=r"x\.png cannot be read: Permission denied"):
        image_at(tmp_path, "x.png")


def programs(folder: Path, *names: str) -> dict[str, str]:
    folder.mkdir()
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return {"PATH": str(folder), "DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0", "SOME_API_KEY": "secret"}


def test_the_clipboard_is_asked_by_what_is_there(tmp_path: Path) -> None:
    environ = programs(tmp_path / "bin", "wl-paste", "xclip")
    asked: list[str] = []

    def run(command: Sequence[str]) -> bytes:
        asked.append(command[0])
        if command[0].endswith("wl-paste"):
            raise subprocess.CalledProcessError(1, command)
        return png()

    image = clipboard_image(environ, tmp_path / "tree", run)
    assert image.label == "clipboard 1×1"
    assert asked == [f"{tmp_path}/bin/wl-paste", f"{tmp_path}/bin/xclip"]


def test_a_program_of_the_clipboard_gets_no_key_and_its_bytes_are_the_image(tmp_path: Path) -> None:
    environ = programs(tmp_path / "bin", "xclip")
    (tmp_path / "dot.png").write_bytes(png())
    script = f'#!/bin/sh\n[ -z "$SOME_API_KEY" ] && /bin/cat {tmp_path}/dot.png\n'
    (tmp_path / "bin" / "xclip").write_text(script)
    assert clipboard_image(environ, tmp_path / "tree").label == "clipboard 1×1"


def test_an_empty_clipboard_and_a_missing_program_are_told_apart(tmp_path: Path) -> None:
    environ = programs(tmp_path / "bin", "xclip")
    with pytest.raises(ImageUnusable, match="holds no image"):
        clipboard_image(environ, tmp_path / "tree", lambda command: b"")
    with pytest.raises(ImageUnusable, match="Install wl-clipboard"):
        clipboard_image({"PATH": str(tmp_path / "empty")}, tmp_path / "tree")
    with pytest.raises(ImageUnusable, match="No program is here"):
        clipboard_image(environ, tmp_path, lambda command: png())
