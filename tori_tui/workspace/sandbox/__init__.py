"""What the system keeps a command from doing, whatever the command tries."""

from __future__ import annotations
