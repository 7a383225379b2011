"""The user's files and processes: confinement, byte-exact edits, search, process groups."""

from __future__ import annotations
