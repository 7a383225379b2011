"""What one goal's work came to, path by path, though others worked in between.

Must not change the work tree.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from tori_tui.workspace.shadow_git import ShadowGit
from tori_tui.workspace.tree_changes import Change, Entry, diff_text


def net_changes(changes: Sequence[Mapping[str, Change]]) -> list[dict[str, Change]]:
    """Join the changes of several intervals where each begins as the one before it ended.

    Returns:
        Layers: a path stands in a second one only where somebody else changed it in between.
    """
    segments: dict[str, list[Change]] = {}
    for interval in changes:
        for path, change in interval.items():
            mine = segments.setdefault(path, [])
            if mine and mine[-1].after == change.before:
                mine[-1] = Change(mine[-1].before, change.after)
            else:
                mine.append(change)
    layers: list[dict[str, Change]] = []
    for path, mine in segments.items():
        real = [change for change in mine if change.before != change.after]
        for depth, change in enumerate(real):
            if depth == len(layers):
                layers.append({})
            layers[depth][path] = change
    return layers


def layer_diff(shadow: ShadowGit, layer: Mapping[str, Change]) -> str:
    """Return a layer as a unified diff. Call it inside `locked`."""
    before = _tree_of(shadow, {path: change.before for path, change in layer.items()})
    after = _tree_of(shadow, {path: change.after for path, change in layer.items()})
    return diff_text(shadow, before, after)


def _tree_of(shadow: ShadowGit, entries: Mapping[str, Entry | None]) -> str:
    """Write a tree of these entries alone, by an index of its own."""
    index = shadow.directory / "index.of-changes"
    index.unlink(missing_ok=True)
    lines = [
        f"{entry.mode} {entry.name}\t".encode() + os.fsencode(path)
        for path, entry in entries.items()
        if entry
    ]
    try:
        feed = b"".join(line + b"\0" for line in lines)
        shadow.run("update-index", "-z", "--add", "--index-info", feed=feed, index=index)
        return shadow.run("write-tree", index=index).decode().strip()
    finally:
        index.unlink(missing_ok=True)


__all__ = ["layer_diff", "net_changes"]
