"""A saved session as a page of its own: HTML, Markdown or a picture. No Textual, no network."""

from __future__ import annotations
