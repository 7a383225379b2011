"""What a shell command would do, told from its text alone."""

from __future__ import annotations
