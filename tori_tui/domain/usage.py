"""Tokens and money of model calls, counted one way for every provider.

Must not know how a provider reports them; adapters translate.
"""

from __future__ import annotations

from tori_tui.domain.value import Value, often_made


@often_made
class Usage(Value):
    """Tokens of one or more model calls.

    `cached_tokens` and `cache_written_tokens` are parts of `input_tokens`;
    `reasoning_tokens` is a part of `output_tokens`. Providers that report the
    cache beside the input (Anthropic) are added up by their adapter.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_written_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Input and output together: what the context held after the call."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.cache_written_tokens + other.cache_written_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
        )


__all__ = ["Usage"]
