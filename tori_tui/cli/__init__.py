"""The command line: one command a file, heavy imports inside commands only."""

from __future__ import annotations
