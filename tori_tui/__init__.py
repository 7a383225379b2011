"""tori: a coding agent for the terminal whose backbone is a goal tree.

Importing this package does nothing; `tori_tui.bootstrap` composes the program.
"""

from __future__ import annotations

__version__ = "0.1.0"

__all__ = ["__version__"]
