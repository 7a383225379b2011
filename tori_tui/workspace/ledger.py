"""What the agent last saw of each file, by content, so that it never writes over what it has not seen.

Must not look at files itself; whoever reads or writes one says so.
"""

from __future__ import annotations

from tori_tui.domain.messages import JsonObject


class FileLedger:
    """Remembers, for each path from the root, the hash of the content that the agent knows.

    A time stamp plays no part: a `touch` makes nothing stale, a change within the same second does.
    """

    def __init__(self) -> None:
        self._seen: dict[str, str] = {}
        self._refused: dict[str, str] = {}

    def saw(self, path: str, sha256: str) -> None:
        """Note that the agent knows this content: it read it, in part at least, or wrote it."""
        self._seen[path] = sha256
        self._refused.pop(path, None)

    def has_seen(self, path: str) -> bool:
        """Say whether the agent ever saw the file."""
        return path in self._seen

    def is_stale(self, path: str, sha256_now: str) -> bool:
        """Say whether the agent saw another content than the present one; unseen files are not stale."""
        return self._seen.get(path, sha256_now) != sha256_now

    def was_refused(self, path: str, sha256_now: str) -> bool:
        """Say whether a write was refused as stale already, with the same content there."""
        return self._refused.get(path) == sha256_now

    def note_refusal(self, path: str, sha256_now: str) -> None:
        """Note that a write was refused as stale, so that the agent knows of the present content."""
        self._refused[path] = sha256_now

    def learn(self, details: JsonObject) -> None:
        """Take over, at a resume, what a tool result's details say of a file; other details are ignored."""
        path, sha256 = details.get("path"), details.get("sha256")
        if isinstance(path, str) and isinstance(sha256, str):
            self.saw(path, sha256)


__all__ = ["FileLedger"]
