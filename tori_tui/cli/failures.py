"""How a command ends when something goes wrong: in words, without a traceback, with an exit code.

Must not import anything heavy; the way to the first frame leads through here.
"""

from __future__ import annotations

from collections.abc import Callable

from tori_tui.cli import streams
from tori_tui.cli.exit_codes import FAILED, INTERRUPTED, USAGE
from tori_tui.domain.errors import ToriError, UsageError


def exit_code_of(command: Callable[[], object]) -> int:
    """Run a command and return its exit code; what went wrong is told on standard error."""
    code = _code_after(command)
    streams.flush()
    return FAILED if code == 0 and streams.has_lost_output() else code


def _code_after(command: Callable[[], object]) -> int:
    try:
        command()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except ToriError as error:
        streams.write_err(f"tori: {_safe(error)}\n")
        return _code_of(error)
    except Exception:
        streams.write_err(_fault())
        return FAILED
    return 0


def _safe(error: ToriError) -> str:
    from tori_tui.render.safe_text import safe_text

    return safe_text(str(error))


def _fault() -> str:
    import traceback

    from tori_tui.render.safe_text import safe_text

    return f"{safe_text(traceback.format_exc())}tori: this is a fault of tori itself; please report it.\n"


def _code_of(error: ToriError) -> int:
    from tori_tui.domain.goal_call import GoalRefused
    from tori_tui.trace.errors import TraceAmbiguous, TraceLocked, TraceMissing

    # To name a trace that is not there, not the only one or not free is wrong usage too, like a goal's id
    # that is none.
    kinds = (UsageError, GoalRefused, TraceAmbiguous, TraceLocked, TraceMissing)
    return USAGE if isinstance(error, kinds) else FAILED


__all__ = ["exit_code_of"]
