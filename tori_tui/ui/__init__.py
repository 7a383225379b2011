"""Everything Textual."""

from __future__ import annotations
