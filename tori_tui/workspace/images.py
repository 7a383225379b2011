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


__all__ = ["IMAGE_LIMIT_BYTES", "image_part"]
