"""The context manager of a session with everything that it needs: made when a second agent is wanted.

Must not be imported at the top of a module; a session with one agent never loads it.
"""

from __future__ import annotations

from tori_tui.bootstrap.ground import Ground
from tori_tui.config.agent_files import agent_folders
from tori_tui.config.translate import secret_values
from tori_tui.memory.session_memory import SessionMemory
from tori_tui.permission.redaction import Redactor
from tori_tui.runtime.agents import KnownAgents
from tori_tui.runtime.context_manager import ContextManager
from tori_tui.runtime.farewell import Farewell
from tori_tui.tools.offered import offered_tools


def make_contexts(ground: Ground) -> ContextManager:
    """Return the context manager of one session."""
    tools = offered_tools()
    world = ground.world
    folders = agent_folders(
        world.config_dir, world.state_dir, ground.options.cwd, [tool.name for tool in tools]
    )
    redact = Redactor(secret_values(world.environ)).redact
    return ContextManager(
        ground.recorder,
        KnownAgents(folders, redact),
        redact=redact,
        shared=SessionMemory(ground.memory.store(), ground.opened.trace_id),
        ask_farewell=Farewell(ground.recorder, ground.models, tools).ask,
    )


__all__ = ["make_contexts"]
