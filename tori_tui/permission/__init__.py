"""What a call may do without asking, and what is kept out of every text."""

from __future__ import annotations
