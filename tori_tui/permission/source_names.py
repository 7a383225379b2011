"""Which names of files are those of sources, by custom.

Must not touch the disk.
"""

from __future__ import annotations

from typing import Final

from tori_tui.permission.protected_paths import words

SOURCE_EXTENSIONS: Final = words(
    "py pyi js jsx ts tsx mjs cjs go rs c h cc cpp hpp cs java kt scala rb php swift lua pl sh "
    "md rst txt html css scss vue svelte sql xml proto gradle ex exs erl hs ml clj dart zig nim log csv tsv"
)
"""No file with secrets is named so by custom, which `.env.local`, `id_rsa` and `secrets.json` show."""


def names_sources(pattern: str) -> bool:
    """Say whether a pattern of file names fits only sources."""
    name, dot, extension = pattern.rpartition("/")[2].rpartition(".")
    return bool(dot) and not name.startswith(".") and extension in SOURCE_EXTENSIONS


__all__ = ["names_sources"]
