"""Images in the work tree, as a model takes them: whole files of a known kind, not too large.

Must not decode pixels; it only makes sure that a file is what its first bytes say.
"""

from __future__ import annotations

import base64
from typing import Final

from tori_tui.domain.messages import ContentPart

IMAGE_LIMIT_BYTES: Final = 1_500_000
"""Base64 makes it 2 MB in the trace and in every request; providers take up to 5 MB."""


def image_part(data: bytes) -> ContentPart | None:
    """Return the image for a model, or None where it is none, is cut or broken, or is too large.

    A provider refuses a broken image, and with it every later request that holds it; so the end of
    the file must be there too.
    """
    media_type = _media_type(data)
    if media_type is None or len(data) > IMAGE_LIMIT_BYTES:
        return None
    return ContentPart("image", media_type=media_type, data=base64.b64encode(data).decode("ascii"))


def pixel_size(data: bytes) -> tuple[int, int] | None:
    """Return width and height of an image as its head tells them; None where it does not."""
    match _media_type(data):
        case "image/png":
            return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
        case "image/gif":
            return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
        case "image/jpeg":
            return _jpeg_size(data)
        case "image/webp":
            return _webp_size(data)
        case _:
            return None


_JPEG_FRAMES: Final = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of the segment that holds the size (ITU T.81, table B.1)."""


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # one that fills
            at += 1
            continue
        if marker in _JPEG_FRAMES:
            height, width = (int.from_bytes(data[at + n : at + n + 2], "big") for n in (5, 7))
            return width, height
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return None


def _webp_size(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = (int.from_bytes(data[n : n + 2], "little") & 0x3FFF for n in (26, 28))
            return width, height
        case _:
            return None


def _media_type(data: bytes) -> str | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR" and data[-8:-4] == b"IEND":
        return "image/png"
    if data.startswith(b"\xff\xd8\xff") and data.rstrip(b"\x00").endswith(b"\xff\xd9"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")) and data.endswith(b"\x3b"):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and int.from_bytes(data[4:8], "little") + 8 == len(data):
        return "image/webp"
    return None


__all__ = ["IMAGE_LIMIT_BYTES", "image_part", "pixel_size"]
