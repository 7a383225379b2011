"""Runs the real command line as a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path


async def tori(*arguments: str, cwd: Path, url: str = "", **environ: str) -> tuple[int, str, str]:
    """Run `tori` against a server and return exit code, stdout and stderr."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tori_tui",
        *arguments,
        cwd=cwd,
        env={**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "test-key", **environ},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()
