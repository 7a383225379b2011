"""A file's bytes as text and back, so that every byte that is not edited stays what it is.

Must not guess more than it needs: every text made here gives back exactly its bytes.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import Final

UTF8: Final = "utf-8"
EIGHT_BIT: Final = "latin-1"
"""Any 8-bit text; gives each byte a character, so that it never fails."""
EIGHT_BIT_READABLE: Final = "cp1252"
"""Latin-1 with the quotes and dashes that most such files mean; five bytes have no meaning in it."""

BOMS: Final = (
    (codecs.BOM_UTF8, UTF8),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
"""UTF-32 is left out: nobody stores source in it, and its mark begins like that of UTF-16."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """The text of a file, without its byte order mark, and how it was read."""

    text: str
    codec: str
    bom: bytes = b""

    def size_of(self, part: str) -> int:
        """Return how many bytes of the file a part of `text` is."""
        return len(part.encode(self.codec, _errors(self.codec)))

    def encode_new(self, text: str) -> bytes:
        """Return new text in the file's encoding.

        Raises:
            UnicodeEncodeError: The encoding has no such character, or the text holds half of one.
        """
        return text.encode(self.codec, "strict")


def decode(data: bytes) -> Decoded:
    """Return the text of a file in the encoding that fits it best."""
    return readings(data)[0]


def readings(data: bytes) -> tuple[Decoded, ...]:
    """Return every way to read a file, the best one first; each of them gives back exactly its bytes."""
    for bom, codec in BOMS:
        if data.startswith(bom):
            return (_with_bom(data, bom, codec), *readings_unmarked(data)[-1:])
    return readings_unmarked(data)


def readings_unmarked(data: bytes) -> tuple[Decoded, ...]:
    """Return every way to read bytes that begin with no mark, as those from the middle of a file."""
    text = data.decode(UTF8, "surrogateescape")
    utf8 = Decoded(text, UTF8)
    if text.isascii():
        return (utf8,)
    n_broken = sum("\udc80" <= character <= "\udcff" for character in text)
    if n_broken == 0:
        return (utf8,)
    n_good = sum(character > "\x7f" for character in text) - n_broken
    eight_bit = _eight_bit(data)
    return (utf8, eight_bit) if n_good > n_broken else (eight_bit, utf8)


def is_binary(data: bytes) -> bool:
    """Say whether bytes are no text: a NUL, unless they are UTF-16 with its mark."""
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return b"\0" in data and not is_utf16


def _with_bom(data: bytes, bom: bytes, codec: str) -> Decoded:
    body = data[len(bom) :]
    try:
        return Decoded(body.decode(codec, _errors(codec)), codec, bom)
    except UnicodeDecodeError:  # an odd number of bytes
        return Decoded(data.decode(EIGHT_BIT), EIGHT_BIT)


def _eight_bit(data: bytes) -> Decoded:
    try:
        return Decoded(data.decode(EIGHT_BIT_READABLE), EIGHT_BIT_READABLE)
    except UnicodeDecodeError:
        return Decoded(data.decode(EIGHT_BIT), EIGHT_BIT)


def _errors(codec: str) -> str:
    match codec:
        case "utf-8":
            return "surrogateescape"
        case "utf-16-le" | "utf-16-be":
            return "surrogatepass"
        case _:
            return "strict"


__all__ = ["Decoded", "decode", "is_binary", "readings", "readings_unmarked"]
