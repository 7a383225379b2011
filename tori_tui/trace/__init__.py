"""Events on disk: codec, append-only JSONL store, projections, catalog, outputs."""

from __future__ import annotations
