"""Colours of others, brought so far from a ground that they can be read on it.

Must not know a theme; grounds and inks come in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

Rgb = tuple[int, int, int]

READABLE: Final = 4.5
"""From WCAG 2.2, 1.4.3: the contrast that text needs."""

BLACK: Final[Rgb] = (0, 0, 0)
WHITE: Final[Rgb] = (255, 255, 255)

STEPS: Final = 8


def readable(ink: Rgb, ground: Rgb) -> Rgb:
    """Return the ink, mixed with as much black or white as it needs to be read on the ground."""
    pole = max(BLACK, WHITE, key=lambda color: contrast(color, ground))
    return next(mixed for mixed in _mixed(ink, pole) if mixed == pole or contrast(mixed, ground) >= READABLE)


def contrast(one: Rgb, other: Rgb) -> float:
    """Return how far two colours are apart, from 1 to 21."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _mixed(ink: Rgb, pole: Rgb) -> Iterator[Rgb]:
    for step in range(STEPS + 1):
        red, green, blue = (a + (b - a) * step // STEPS for a, b in zip(ink, pole, strict=True))
        yield red, green, blue


def _luminance(color: Rgb) -> float:
    red, green, blue = (_linear(part / 255) for part in color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


__all__ = ["BLACK", "READABLE", "WHITE", "Rgb", "contrast", "readable"]
