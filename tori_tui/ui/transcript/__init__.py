"""The conversation as blocks, and blocks as cached lines. No widgets."""

from __future__ import annotations
