"""Recorded replies in the place of a model."""

from __future__ import annotations
