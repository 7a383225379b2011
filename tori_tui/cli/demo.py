"""`tori demo`: a whole session without any key and without network.

Must not touch anything but a new temporary directory.
"""

from __future__ import annotations

from typing import Annotated

import typer


def demo(
    plain: Annotated[
        bool, typer.Option("--plain", help="Print the session instead of opening the app.")
    ] = False,
) -> None:
    """Watch tori mend a small project: no key, no network."""
    from tori_tui.cli import streams

    if not plain and streams.can_show_app():
        from tori_tui.cli.app import play_demo_in_app

        raise typer.Exit(play_demo_in_app())
    from tori_tui.cli.demo_session import play_demo

    raise typer.Exit(play_demo())


__all__ = ["demo"]
