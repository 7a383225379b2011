from __future__ import annotations

import asyncio
from pathlib import Path

from tests.fakes.scope import FakeScope
from tori_tui.tools.base import Tool, ToolOutput
from tori_tui.tools.edit_file import EditFileTool
from tori_tui.tools.glob_files import GlobFilesTool
from tori_tui.tools.grep_files import GrepFilesTool
from tori_tui.tools.read_file import ReadFileTool
from tori_tui.tools.write_file import WriteFileTool
from tori_tui.trace.outputs import Outputs
from tori_tui.workspace.ledger import FileLedger
from tori_tui.workspace.paths import Workspace
from tori_tui.workspace.search import Search


class FileBench:
    """The file tools over a folder, called as the executor would."""

    def __init__(self, root: Path, cwd: Path | None = None) -> None:
        self.root = root
        self.workspace = Workspace(root, cwd)
        self.ledger = FileLedger()
        self.outputs = Outputs(root / ".trace" / "t" / "outputs")
        self.scope = FakeScope()
        self.read_tool = ReadFileTool(self.workspace, self.ledger)
        self.write_tool = WriteFileTool(self.workspace, self.ledger, self.outputs)
        self.edit_tool = EditFileTool(self.workspace, self.ledger, self.outputs)
        self.glob_tool = GlobFilesTool(self.workspace, Search.on_path())
        self.grep_tool = GrepFilesTool(self.workspace, Search.on_path())

    def call(self, tool: Tool, **arguments: object) -> ToolOutput:
        return asyncio.run(_run(tool, arguments, self.scope))

    def read(self, path: str, **more: object) -> ToolOutput:
        return self.call(self.read_tool, path=path, **more)

    def write(self, path: str, content: str) -> ToolOutput:
        return self.call(self.write_tool, path=path, content=content)

    def edit(self, path: str, old: str, new: str, **more: object) -> ToolOutput:
        return self.call(self.edit_tool, path=path, old=old, new=new, **more)

    def glob(self, pattern: str, **more: object) -> ToolOutput:
        return self.call(self.glob_tool, pattern=pattern, **more)

    def grep(self, pattern: str, **more: object) -> ToolOutput:
        return self.call(self.grep_tool, pattern=pattern, **more)


async def _run(tool: Tool, arguments: dict[str, object], scope: FakeScope) -> ToolOutput:
    return await tool.run(arguments, scope)
