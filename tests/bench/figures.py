"""What a bench returns, and how it is printed.

Must not measure anything itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number beside its bar."""

    name: str
    value: float
    unit: str = ""
    bar: float | None = None
    """The most it may be; None where nothing is promised."""
    note: str = ""

    @property
    def is_within(self) -> bool:
        """Whether the bar is kept."""
        return self.bar is None or self.value <= self.bar


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as aligned lines."""
    rows = [("", "measured", "bar", "", "")]
    for figure in figures:
        verdict = "" if figure.bar is None else ("ok" if figure.is_within else "OVER")
        bar = "" if figure.bar is None else f"≤ {figure.bar:g}{figure.unit}"
        rows.append((figure.name, f"{figure.value:.3g}{figure.unit}", bar, verdict, figure.note))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)


__all__ = ["Figure", "table"]
