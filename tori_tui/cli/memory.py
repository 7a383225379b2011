"""`tori memory`: what sessions have learned of this project.

Must not import anything heavy before a command is really called.
"""

from __future__ import annotations

from typing import Annotated

import typer

from tori_tui.cli import options

memory = typer.Typer(
    help="Show, search and forget what sessions have learned of this project.", no_args_is_help=True
)

Json = Annotated[bool, typer.Option("--json", help="Print one fact a line as JSON.")]


@memory.command("list")
def list_facts(json: Json = False, cwd: options.Cwd = None) -> None:
    """List the facts, newest first."""
    from tori_tui.cli.memory_facts import print_facts

    print_facts(cwd, "", as_json=json)


@memory.command("search")
def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS", help="All of them must be there.")],
    json: Json = False,
    cwd: options.Cwd = None,
) -> None:
    """List the facts that have all of these words, newest first."""
    from tori_tui.cli.memory_facts import print_facts

    print_facts(cwd, " ".join(words), as_json=json)


@memory.command("forget")
def forget(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Numbers, as the list shows them.")],
    cwd: options.Cwd = None,
) -> None:
    """Forget facts, for good."""
    from tori_tui.cli.memory_facts import forget_facts

    forget_facts(cwd, ids)


__all__ = ["memory"]
