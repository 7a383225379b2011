"""The runner: the only writer of a session's state."""

from __future__ import annotations
