"""Text without lone surrogates: such text can be neither written to disk nor sent.

Must not change any other character.
"""

from __future__ import annotations

from tori_tui.domain.plain_text import mend


def mend_value(value: object) -> object:
    """Return a JSON value with every string in it mended, keys included; itself where nothing is to mend."""
    return _mended(value) if _is_torn(value) else value


def _is_torn(value: object) -> bool:
    # By hand and not by `match`, which takes twice as long: every argument of every call, at each request.
    if isinstance(value, str):
        return not value.isascii() and mend(value) is not value
    if isinstance(value, dict):
        return any(not isinstance(k, str) or _is_torn(k) or _is_torn(item) for k, item in value.items())
    return isinstance(value, list) and any(map(_is_torn, value))


def _mended(value: object) -> object:
    match value:
        case str():
            return mend(value)
        case dict():
            return {mend(str(key)): _mended(item) for key, item in value.items()}
        case list():
            return [_mended(item) for item in value]
        case _:
            return value


class PieceMender:
    """Mends text that comes in pieces; a pair may be cut between two of them."""

    def __init__(self) -> None:
        self._high = ""

    def feed(self, piece: str) -> str:
        """Return what can be shown now; a trailing first half of a pair waits for the second."""
        if not self._high and piece.isascii():
            return piece
        text = self._high + piece
        self._high = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._high, text = text[-1], text[:-1]
        return mend(text)

    def finish(self) -> str:
        """Return what still waits."""
        high, self._high = self._high, ""
        return mend(high)


__all__ = ["PieceMender", "mend", "mend_value"]
