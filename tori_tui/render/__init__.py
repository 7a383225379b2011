"""Rich renderables from domain values. No Textual."""

from __future__ import annotations
