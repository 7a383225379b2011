"""Short words of the draft that stand for much: a large paste, an image.

Pure. Must not know a widget; what they stand for is kept here, the draft holds the words alone.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Final
from urllib.parse import unquote, urlsplit

from tori_tui.domain.messages import ContentPart
from tori_tui.domain.shown_image import ShownImage
from tori_tui.render.safe_text import one_line, safe_text

PASTE_LIMIT_CHARS: Final = 2_000
PASTE_LIMIT_LINES: Final = 20
"""A larger paste stands in the draft as one short word, and is sent whole."""

UNFOLD_LIMIT_CHARS: Final = 20_000
UNFOLD_LIMIT_LINES: Final = 400
"""A larger one is shown in the editor instead: the input draws all of its lines anew at each key."""

NAME_LIMIT_CHARS: Final = 40

SUFFIXES: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")

DROPPED_LIMIT_CHARS: Final = 8_000

_PASTE: Final = re.compile(r"\[paste #(\d+): [^\]\n]*\]")
_IMAGE: Final = re.compile(r"\[image (\d+): ([^\]\n]*?)(?: (\d+)×(\d+))?\]")
_MENTION: Final = re.compile(r'(?<![A-Za-z0-9_.@/])[@＠](?:"([^"\n]+)"|([^\s@"]+))')

_TRAILING: Final = ".,;:!?)]}'”’。，；：！？）】」"
"""What may follow a mention without being of its name."""


class Chips:
    """What the words of a draft stand for; a number is given once, so that what was sent may come back."""

    def __init__(self) -> None:
        self._pastes: dict[int, str] = {}
        self._images: dict[int, ShownImage] = {}

    # ── to words ──

    def of_paste(self, text: str) -> str:
        """Keep a paste and return its word."""
        number = max(self._pastes, default=0) + 1
        self._pastes[number] = text
        return _paste_word(number, text)

    def of_image(self, image: ShownImage) -> str:
        """Keep an image and return its word."""
        number = max(self._images, default=0) + 1
        self._images[number] = image
        return _image_word(number, image)

    def shown(self, text: str) -> str:
        """Return a text as it may stand in the draft: as one word where it is large or cannot be drawn."""
        may_stand = not is_large(text) and safe_text(text) == text
        # A paste within a paste would not be found again.
        return text if may_stand or any(map(self.spans, text.split("\n"))) else self.of_paste(text)

    def changed_paste(self, number: int, text: str) -> str:
        """Let a paste stand for another text and return its new word; a short text stands for itself."""
        if not is_large(text) and safe_text(text) == text:
            return text
        self._pastes[number] = text
        return _paste_word(number, text)

    def given_back(self, text: str, images: Sequence[ContentPart]) -> str:
        """Return a text that was sent as a draft again, its images under words of this session.

        Args:
            text: As it was sent, its images named in order.
            images: Those images.
        """
        parts = iter(images)

        def again(match: re.Match[str]) -> str:
            part = next(parts, None)
            known = self._images.get(int(match[1]))
            if part is None or (known is not None and known.part == part):
                return match.group()
            return self.of_image(ShownImage(match[2], part, int(match[3] or 0), int(match[4] or 0)))

        return _IMAGE.sub(again, text)

    # ── from words ──

    def spans(self, line: str) -> list[tuple[int, int]]:
        """Return where the words of a line that stand for something begin and end."""
        if "[" not in line:
            return []
        pastes = (match.span() for match in _PASTE.finditer(line) if int(match[1]) in self._pastes)
        images = (match.span() for match in _IMAGE.finditer(line) if int(match[1]) in self._images)
        return sorted((*pastes, *images))

    def paste_at(self, line: str, column: int) -> tuple[int, tuple[int, int]] | None:
        """Return the paste whose word touches a column, and the word's place."""
        for match in _PASTE.finditer(line):
            if match.start() <= column <= match.end() and int(match[1]) in self._pastes:
                return int(match[1]), match.span()
        return None

    def paste(self, number: int) -> str:
        """Return what a paste's word stands for."""
        return self._pastes[number]

    def full(self, text: str) -> str:
        """Return a draft with every paste in full."""
        return _PASTE.sub(lambda match: self._pastes.get(int(match[1]), match.group()), text)

    def images(self, text: str) -> tuple[ContentPart, ...]:
        """Return the images that a draft names, in that order."""
        found = (self._images.get(int(match[1])) for match in _IMAGE.finditer(text))
        return tuple(image.part for image in found if image is not None)

    def remembered(self, text: str) -> str:
        """Return a draft as another session may take it up: pastes in full, images by their paths."""
        return self.full(_IMAGE.sub(self._by_path, text))

    def _by_path(self, match: re.Match[str]) -> str:
        image = self._images.get(int(match[1]))
        if image is None or not image.path:
            return match.group()
        return f'@"{image.path}"' if re.search(r"\s", image.path) else f"@{image.path}"


def is_large(text: str) -> bool:
    """Whether a text is too large to be drawn in the input as it is."""
    return len(text) > PASTE_LIMIT_CHARS or text.count("\n") > PASTE_LIMIT_LINES


def may_be_unfolded(text: str) -> bool:
    """Whether a paste may stand in the input itself."""
    is_small = len(text) <= UNFOLD_LIMIT_CHARS and text.count("\n") <= UNFOLD_LIMIT_LINES
    return is_small and safe_text(text) == text


def dropped_images(text: str) -> tuple[str, ...]:
    """Return the paths of a paste that is nothing but paths of images, as terminals drop files."""
    text = text.strip()
    if not text or len(text) > DROPPED_LIMIT_CHARS or "\n" in text:
        return ()
    if _is_path(text) and "\\" not in text and text[0] not in "'\"" and not text.count(" /"):
        return (text,)
    try:
        words = shlex.split(text)
    except ValueError:
        return ()
    return tuple(words) if words and all(map(_is_path, words)) else ()


Found = tuple[str, tuple[str, ...]]
"""Words as they stand in a draft, and the paths of images that they may be."""


def mentioned_images(text: str) -> tuple[Found, ...]:
    """Return the images that a draft mentions with `@`: each as it stands there, and its path."""
    found: list[tuple[str, str]] = []
    for match in _MENTION.finditer(text):
        if match[1] is not None:
            found.append((match.group(), match[1]))
            continue
        path = match[2].rstrip(_TRAILING)
        found.append((match.group()[: len(path) + 1], path))
    return tuple((raw, (path,)) for raw, path in found if path.lower().endswith(SUFFIXES))


def _is_path(word: str) -> bool:
    if "://" in word and not word.startswith("file://"):
        return False
    path = unquote(urlsplit(word).path) if word.startswith("file://") else word
    return path.lower().endswith(SUFFIXES)


def _paste_word(number: int, text: str) -> str:
    n_lines = text.removesuffix("\n").count("\n") + 1
    size = f"{n_lines:,} lines" if n_lines > 1 else f"{len(text):,} characters"
    return f"[paste #{number}: {size}]"


def _image_word(number: int, image: ShownImage) -> str:
    name = one_line(image.name, NAME_LIMIT_CHARS).replace("]", ")")
    return f"[image {number}: {replace(image, name=name).label}]"


__all__ = [
    "PASTE_LIMIT_CHARS",
    "PASTE_LIMIT_LINES",
    "Chips",
    "Found",
    "dropped_images",
    "is_large",
    "may_be_unfolded",
    "mentioned_images",
]
