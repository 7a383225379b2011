from __future__ import annotations

from pathlib import Path

import pytest

from tori_tui.config.agent_files import AgentFolders, agent_names, read_agent
from tori_tui.domain.errors import UsageError
from tori_tui.domain.goals import Budget

TOOLS = frozenset({"read_file", "bash", "write_file"})


def written(folder: Path, text: str, name: str = "docs.md") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    return path


WHOLE = """---
# who writes the pages
description: "writes: the pages"
model: anthropic/claude-haiku-5
tools: [read_file, 'write_file']
mode: edit
limits:
  turns: 20
  cost_usd: 0.5
---
Write pages.
"""


def test_every_key_is_read(tmp_path: Path) -> None:
    agent = read_agent(written(tmp_path, WHOLE), TOOLS)
    assert (agent.name, agent.description, agent.model) == (
        "docs",
        "writes: the pages",
        "anthropic/claude-haiku-5",
    )
    assert (agent.tools, agent.mode, agent.limits) == (("read_file", "write_file"), "edit", Budget(20, 0.5))
    assert agent.prompt.startswith("Write pages.\n\n# How tori works")
    assert (agent.has_tool("goal"), agent.has_tool("bash")) == (True, False)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lists_and_tables_may_stand_below_or_beside_their_key(tmp_path: Path, newline: str) -> None:
    text = "---\ntools:\n  - read_file\n  - bash\nlimits: {turns: 3, seconds: 60}\nmode: plan\n---\nLook.\n"
    agent = read_agent(written(tmp_path, text.replace("\n", newline)), TOOLS)
    assert (agent.tools, agent.limits, agent.ending) == (("read_file", "bash"), Budget(3, None, 60), "answer")


def test_file_without_front_matter_is_all_prompt(tmp_path: Path) -> None:
    agent = read_agent(written(tmp_path, "Be kind.\n---\nAlways.\n"), TOOLS)
    assert agent.prompt.startswith("Be kind.\n---\nAlways.")
    assert (agent.tools, agent.mode, agent.has_tool("write_file")) == ((), "", True)


@pytest.mark.parametrize(
    ("front", "line", "said"),
    [
        ("mood: good", 2, "there is no key 'mood'"),
        ("\nmode: fast", 3, "'mode'"),
        ("mode:", 2, "'mode'"),
        ("tools: read_file, fly", 2, "'fly'"),
        ("tools:\n  read_file: yes", 2, "'tools'"),
        ("limits: 20", 2, "'limits"),
        ("limits:\n  turns: 1.5", 3, "'limits.turns'"),
        ("limits:\n  turns: -1", 3, "'limits.turns'"),
        ("limits:\n  days: 3", 3, "'limits.days'"),
        ("limits:\n  cost_usd: nan", 3, "'limits.cost_usd'"),
        ("model:\n  - a", 2, "'model'"),
        ("mode: ask\nmode: edit", 3, "'mode' stands there twice"),
        ("just words", 2, "has no colon"),
        ("  - stray", 2, "belongs to no key"),
        ("model: a\n  - stray", 3, "belongs to no key"),
    ],
)
def test_wrong_front_matter_names_file_line_and_key(tmp_path: Path, front: str, line: int, said: str) -> None:
    path = written(tmp_path, f"---\n{front}\n---\nPrompt.\n")
    with pytest.raises(UsageError) as caught:
        read_agent(path, TOOLS)
    assert str(caught.value).startswith(f"{path}:{line}:")
    assert said in str(caught.value)


def test_what_is_no_agent_is_refused(tmp_path: Path) -> None:
    for text, said in (
        ("---\nmode: ask\nPrompt", "no end"),
        ("---\nmode: ask\n---\n \n", "no prompt"),
        ("x" * 70_000, "more than 64,000 bytes"),
    ):
        with pytest.raises(UsageError, match=said):
            read_agent(written(tmp_path, text), TOOLS)
    for name in ("plan.md", "main.md", "close.md"):
        with pytest.raises(UsageError, match="tori's own"):
            read_agent(written(tmp_path, "Mine.", name), TOOLS)
    (tmp_path / "docs.md").write_bytes(b"---\nmode: ask\n---\nA\n\xff\n")
    with pytest.raises(UsageError, match=r"docs\.md:5: this line is not UTF-8"):
        read_agent(tmp_path / "docs.md", TOOLS)


def test_nearest_trusted_folder_wins_and_an_untrusted_one_is_only_named(tmp_path: Path) -> None:
    users, folder, foreign = tmp_path / "users", tmp_path / "folder", tmp_path / "foreign"
    written(users, "Of the user.")
    written(folder, "Of the folder.")
    foreign_path = written(foreign, "Of a stranger.", "sly.md")
    written(users, "Not a name.", "Not A Name.md")
    folders = AgentFolders(users, [folder, foreign], lambda path: path == folder, TOOLS)
    agent = folders.read("docs")
    assert agent is not None
    assert agent.prompt.startswith("Of the folder.")
    assert folders.names() == ("docs",)
    assert (folders.read("sly"), folders.unread("sly")) == (None, foreign_path)
    assert (folders.read("../folder/docs"), folders.unread("../foreign/sly")) == (None, None)


def test_names_for_the_user_begin_with_tori_s_own(tmp_path: Path) -> None:
    written(tmp_path / "agents", "Mine.")
    assert agent_names(tmp_path, tmp_path, tmp_path) == ("build", "plan", "review", "docs")
    assert agent_names(tmp_path / "none", tmp_path, tmp_path) == ("build", "plan", "review")
