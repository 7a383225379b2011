"""Numbers for readers: tokens, money, time.

Must not round a limit that was reached down to one that was not.
"""

from __future__ import annotations

from typing import Final

_AGES: Final = (("y", 31_557_600), ("d", 86_400), ("h", 3_600), ("m", 60))


def shown_tokens(tokens: int) -> str:
    """Return a token count in at most four characters and a unit.

    Example:
        >>> shown_tokens(950), shown_tokens(4_210), shown_tokens(41_499), shown_tokens(5_120_000)
        ('950', '4.2k', '41k', '5.1M')
    """
    if tokens < 1_000:
        return str(tokens)
    for unit, size in (("k", 1_000), ("M", 1_000_000)):
        value = tokens / size
        # 999.6k would be shown as 1000k.
        if value < 999.5 or unit == "M":
            return f"{value:.1f}{unit}" if value < 9.95 else f"{value:.0f}{unit}"
    raise AssertionError


def shown_duration(seconds: float) -> str:
    """Return a time span.

    Example:
        >>> shown_duration(1.21), shown_duration(75), shown_duration(3_720)
        ('1.2s', '1m15s', '1h02m')
    """
    if seconds < 59.95:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes}m{rest:02d}s"
    return f"{minutes // 60}h{minutes % 60:02d}m"


def shown_age(seconds: float) -> str:
    """Return how long ago something was, in one unit.

    Example:
        >>> shown_age(20), shown_age(200), shown_age(9_000), shown_age(400_000), shown_age(90_000_000)
        ('now', '3m ago', '2h ago', '4d ago', '2y ago')
    """
    for unit, size_s in _AGES:
        if seconds >= size_s:
            return f"{int(seconds // size_s)}{unit} ago"
    return "now"


def shown_cost(cost_usd: float, *, is_partial: bool) -> str:
    """Return money; nothing where it is none or no price is known, `≥` where some prices are not.

    Example:
        >>> shown_cost(0.1234, is_partial=False), shown_cost(0.004, is_partial=True)
        ('$0.12', '≥ $0.004')
    """
    if not cost_usd:
        return ""
    text = f"${cost_usd:.2f}" if cost_usd >= 0.01 else f"${cost_usd:.3f}"
    return f"≥ {text}" if is_partial else text


def counted(n: int, noun: str) -> str:
    """Return a number with its noun, such as `1 goal` or `2 goals`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


__all__ = ["counted", "shown_age", "shown_cost", "shown_duration", "shown_tokens"]
