"""Wire protocols of model providers behind one small protocol."""

from __future__ import annotations
