"""Screens: they lay widgets out and translate intents into commands."""

from __future__ import annotations
