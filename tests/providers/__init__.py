"""Tests of the wire protocols."""

from __future__ import annotations
