"""OpenAI's wire protocols."""

from __future__ import annotations
