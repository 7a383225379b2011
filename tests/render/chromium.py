"""A headless Chromium that is spoken to through pipes, in its own DevTools protocol."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LIMIT_S = 20

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--hide-scrollbars",
    # Whatever asks for a server by name fails, and is seen asking.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)


class Page:
    """One page that is open, with every request that it made."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._n_sent = 0
        self._buffer = b""
        self._session = ""
        self.requests: list[str] = []
        self.events: list[str] = []
        self.faults: list[str] = []

    def open(self, address: str, width: int = 1200, *, dark: bool = False, script: bool = True) -> None:
        """Open an address in a new tab and wait until it is there."""
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setScriptExecutionDisabled", value=not script)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        self.events.clear()
        self.ask("Page.navigate", url=address)
        while "Page.loadEventFired" not in self.events:
            self._read()

    def run(self, script: str) -> object:
        """Run a script in the page and return its value."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        self._n_sent += 1
        number = self._n_sent
        message = {"id": number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer)
                return dict(answer["result"])

    def _read(self) -> dict[str, Any]:
        ends_s = time.monotonic() + LIMIT_S
        while b"\0" not in self._buffer:
            assert select.select([self._from], [], [], max(0.0, ends_s - time.monotonic()))[0], "no answer"
            piece = os.read(self._from, 1 << 20)
            assert piece, "Chromium is gone"
            self._buffer += piece
        line, self._buffer = self._buffer.split(b"\0", 1)
        message: dict[str, Any] = json.loads(line)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, params: dict[str, Any]) -> None:
        self.events.append(method)
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.faults.append(json.dumps(params))


@contextmanager
def chromium(profile: Path) -> Iterator[Page]:
    """Start Chromium; it is gone at the end."""
    browser_in, ours_out = os.pipe()
    ours_in, browser_out = os.pipe()
    command = f'exec chromium "$@" 3<&{browser_in} 4>&{browser_out}'
    process = subprocess.Popen(
        ("bash", "-c", command, "chromium", *FLAGS, f"--user-data-dir={profile}", "about:blank"),
        pass_fds=(browser_in, browser_out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(browser_in)
    os.close(browser_out)
    try:
        yield Page(ours_out, ours_in)
    finally:
        process.kill()
        process.wait()
        os.close(ours_out)
        os.close(ours_in)


__all__ = ["Page", "chromium"]
