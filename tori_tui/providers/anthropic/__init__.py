"""Anthropic's wire protocol."""

from __future__ import annotations
