"""The program that searches files where ripgrep is not there: a process, so that a regex can be stopped.

Reads one query as JSON from stdin and writes one JSON object a line. Must not import more than it needs;
it starts once a search.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from tori_tui.workspace.encoding import decode, is_binary
from tori_tui.workspace.hits import FoundLine, LineQuery, preview
from tori_tui.workspace.patterns import FileGlob
from tori_tui.workspace.tree import walk

UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def main() -> None:
    """Answer the query on stdin."""
    query = json.load(sys.stdin)
    # Should the parent be killed, the kernel ends this process, in the middle of a match too.
    signal.alarm(int(query["limit_s"]) + 1)
    lines = LineQuery(query["regex"], query["ignore_case"], query["context_lines"])
    try:
        regex = re.compile(lines.regex, re.IGNORECASE if lines.ignore_case else 0)
    except (re.error, OverflowError, RecursionError) as error:
        _write({"error": str(error)})
        return
    start = Path(query["start"])
    glob = FileGlob(query["glob"]) if query["glob"] else None
    files = [""] if start.is_file() else walk(start)
    for path in files:
        if path and glob and not glob.matches(path):
            continue
        found = list(search_file(start / path if path else start, path, regex, lines.context_lines))
        if found:
            _write({"lines": [(line.path, line.number, line.text, line.is_match) for line in found]})


def search_file(file: Path, path: str, regex: re.Pattern[str], context_lines: int) -> Iterator[FoundLine]:
    """Yield the lines of a text file that match and those around them; nothing of a binary file."""
    try:
        lines = _lines(file)
    except OSError:
        return
    before: deque[tuple[int, str]] = deque(maxlen=context_lines)
    last_match = -context_lines
    for number, line in enumerate(lines, 1):
        match = regex.search(line)
        if match:
            for earlier, text in before:
                yield FoundLine(path, earlier, _clean(preview(text)), is_match=False)
            before.clear()
            yield FoundLine(path, number, _clean(preview(line, *match.span())))
            last_match = number
        elif number <= last_match + context_lines and last_match > 0:
            yield FoundLine(path, number, _clean(preview(line)), is_match=False)
        else:
            before.append((number, line))


def _lines(file: Path) -> Iterable[str]:
    data = file.read_bytes()
    if is_binary(data):
        return []
    text = decode(data).text if data.startswith(UTF16_MARKS) else data.decode("utf-8-sig", "surrogateescape")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return (line.removesuffix("\r") for line in lines)


def _clean(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _write(value: object) -> None:
    # Escaped, so that a path that is no UTF-8 comes through as it is.
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    os.nice(5)
    main()


__all__ = ["main", "search_file"]
