"""Compares a text with a kept one; `UPDATE_GOLDEN=1 pytest` writes the kept ones anew."""

from __future__ import annotations

import os
from pathlib import Path

GOLDEN = Path(__file__).with_name("golden")


def assert_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text + "\n", "utf-8")
    assert text + "\n" == path.read_text("utf-8")
