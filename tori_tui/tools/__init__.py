"""The model's tools, one a file, the text that the model reads beside each."""

from __future__ import annotations
