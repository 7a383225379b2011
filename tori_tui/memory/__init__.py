"""What outlives a context."""

from __future__ import annotations
