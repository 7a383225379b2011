"""Widgets: frozen values in, Textual messages out."""

from __future__ import annotations
