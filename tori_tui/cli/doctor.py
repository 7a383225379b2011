"""`tori doctor`: what is here and where everything comes from.

Must not import anything heavy before the command is really called.
"""

from __future__ import annotations

from tori_tui.cli import options


def doctor(cwd: options.Cwd = None) -> None:
    """Show versions, where each setting and key comes from, and what the terminal can do."""
    from tori_tui.cli.doctor_report import print_report

    print_report(cwd)


__all__ = ["doctor"]
