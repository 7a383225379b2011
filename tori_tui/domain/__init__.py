"""Values and pure functions: what tori talks about. Standard library only."""

from __future__ import annotations
