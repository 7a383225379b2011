"""What a model call costs, from its tokens and the model's prices.

Must not know where prices come from.
"""

from __future__ import annotations

from tori_tui.domain.request import ModelProfile
from tori_tui.domain.usage import Usage


def cost_usd(usage: Usage, profile: ModelProfile) -> float | None:
    """Return the price of the tokens; None where the model's price is unknown.

    Cached and written tokens without a price of their own cost as much as uncached input.
    """
    if profile.input_usd_per_mtok is None or profile.output_usd_per_mtok is None:
        return None
    base = profile.input_usd_per_mtok
    cached = base if profile.cached_usd_per_mtok is None else profile.cached_usd_per_mtok
    written = base if profile.cache_write_usd_per_mtok is None else profile.cache_write_usd_per_mtok
    plain_tokens = max(0, usage.input_tokens - usage.cached_tokens - usage.cache_written_tokens)
    micro = (
        plain_tokens * base
        + usage.cached_tokens * cached
        + usage.cache_written_tokens * written
        + usage.output_tokens * profile.output_usd_per_mtok
    )
    return micro / 1_000_000


__all__ = ["cost_usd"]
