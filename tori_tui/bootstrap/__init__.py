"""The composition root: the only package that names concrete classes of several layers.

Must not decide anything that a layer could decide.
"""

from __future__ import annotations

from tori_tui.bootstrap.opening import open_session
from tori_tui.config.surroundings import SessionOptions, Surroundings, real_surroundings

__all__ = ["SessionOptions", "Surroundings", "open_session", "real_surroundings"]
