"""Exact token counts of OpenAI's newer models, where tiktoken's data already lies on the machine.

Must not touch the network. Import it late and off the loop: tiktoken takes 40 ms, its data 300 ms.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import tiktoken

from tori_tui.context.tokens import estimate_tokens

ENCODING: Final = "o200k_base"

DATA_NAME: Final = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""Under this name tiktoken keeps the encoding's ranks: the SHA-1 of their address."""

DATA_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""As in tiktoken_ext/openai_public.py of 0.14; with any other content tiktoken would fetch it anew."""

EXACT_LIMIT_CHARS: Final = 50_000
"""Longer texts are estimated: a long run without spaces takes time that grows with its square."""


def data_directory(environ: Mapping[str, str], temp_dir: Path) -> Path | None:
    """Return where tiktoken looks for its data, or None where it would keep none."""
    for name in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if name in environ:
            return Path(environ[name]) if environ[name] else None
    return temp_dir / "data-gym-cache"


def exact_counter(environ: Mapping[str, str], temp_dir: Path) -> Callable[[str], int] | None:
    """Return a counter, or None where the data is not there whole and unchanged."""
    directory = data_directory(environ, temp_dir)
    if directory is None:
        return None
    try:
        data = (directory / DATA_NAME).read_bytes()
    except OSError:
        return None
    if hashlib.sha256(data).hexdigest() != DATA_SHA256:
        return None
    encoding = tiktoken.get_encoding(ENCODING)

    def count(text: str) -> int:
        if len(text) > EXACT_LIMIT_CHARS:
            return estimate_tokens(text)
        return len(encoding.encode_ordinary(text))

    return count


__all__ = ["exact_counter"]
