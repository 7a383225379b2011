"""`python -m tori_tui` is `tori`."""

from __future__ import annotations

from tori_tui.cli.entry import main

if __name__ == "__main__":
    main()
