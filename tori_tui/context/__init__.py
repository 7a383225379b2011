"""From the state of a session to what the model sees."""

from __future__ import annotations
