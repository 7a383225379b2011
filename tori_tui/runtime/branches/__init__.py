"""Branches of `explore`: how one is begun, run, compared. Imported when a model first calls it."""

from __future__ import annotations
