"""`tori open`, hidden: what `tori [PATH]` means when it comes with options.

Must not import anything heavy.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer.core import TyperGroup

from tori_tui.cli import options
from tori_tui.cli.commands import OPEN


class AppFirst(TyperGroup):
    """A group in which `tori [PATH] [OPTIONS]` opens the app."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        """Put the app's command in front where no command is named."""
        if args and args[0] not in self.commands and self._is_apps(ctx, args[0]):
            args = [OPEN, *args]
        elif args and args[0] not in self.commands and not args[0].startswith("-"):
            from tori_tui.domain.spelling import likest

            near = likest(args[0], self.commands)
            hint = f" Did you mean {near!r}?" if near and near != OPEN else ""
            ctx.fail(f"There is neither a command nor a folder {args[0]!r}.{hint}")
        return super().parse_args(ctx, args)

    def _is_apps(self, ctx: typer.Context, first: str) -> bool:
        if first.startswith("-"):
            return all(first not in parameter.opts for parameter in self.get_params(ctx))
        return Path(first).exists()


def open_app(
    path: Annotated[
        Path | None, typer.Argument(metavar="PATH", help="Where to work; here if left out.")
    ] = None,
    model: options.Model = None,
    mode: options.ModeOption = None,
    sandbox: options.Sandbox = False,
    trace_dir: options.TraceDir = None,
) -> None:
    """Open the app."""
    from tori_tui.cli.app import start_app

    raise typer.Exit(start_app(path or Path(), model=model, mode=mode, sandbox=sandbox, trace_dir=trace_dir))


__all__ = ["AppFirst", "open_app"]
