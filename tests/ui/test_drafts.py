from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest
from textual import events
from textual.pilot import Pilot

from tests.ui.apps import Stage
from tests.ui.test_session_screen import live, ready, sent
from tori_tui.domain.commands import AddComment
from tori_tui.domain.ids import CommentId
from tori_tui.ui.draft_keeping import PAUSE_S
from tori_tui.ui.widgets.comment_input import Purpose

LINES = "".join(f"line {n} 中\n" for n in range(60))
HUGE = "x" * 79 + "\n"
HUGE *= 13_000


async def edited(stage: Stage, pilot: Pilot[None]) -> None:
    for _ in range(500):
        await pilot.pause(0.01)
        if not any(worker.group == "editor" for worker in stage.app.workers):
            break
    await pilot.pause()


def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    program = tmp_path / "an editor.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("VISUAL", f"'{program}' --flag")
    return program


async def test_a_paste_unfolds_at_its_word_and_undo_folds_it_again() -> None:
    async with live() as (stage, pilot):
        stage.screen.input.post_message(events.Paste(LINES))
        await pilot.pause()
        assert stage.screen.input.text == "[paste #1: 60 lines]"
        await pilot.press("ctrl+o")
        assert stage.screen.input.text == LINES
        await pilot.press("ctrl+underscore", "backspace")
        assert stage.screen.input.text == ""
        await pilot.press("ctrl+underscore", "a", "enter")
        assert sent(stage) == [AddComment(CommentId("t1"), f"{LINES}a")]


async def test_keys_that_delete_take_a_paste_whole() -> None:
    async with live() as (stage, pilot):
        for keys in (
            ("ctrl+w",),
            ("home", "delete"),
            ("home", "alt+delete"),
            ("ctrl+u",),
            ("home", "ctrl+k", "ctrl+k"),
        ):
            stage.screen.input.post_message(events.Paste(LINES))
            await pilot.pause()
            await pilot.press(*keys)
            assert stage.screen.input.text == "", keys


async def test_a_megabyte_opens_in_the_editor_and_comes_back_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor(tmp_path, monkeypatch, f'wc -c < "$2" > {tmp_path}/size; printf more >> "$2"')
    async with live() as (stage, pilot):
        monkeypatch.setattr(type(stage.app._driver), "can_suspend", True)
        stage.screen.input.post_message(events.Paste(HUGE))
        await pilot.pause()
        await pilot.press("ctrl+o")
        await edited(stage, pilot)
        assert int((tmp_path / "size").read_text()) == len(HUGE)
        await pilot.press("enter")
        (command,) = sent(stage)
        assert isinstance(command, AddComment)
        assert command.text == f"{HUGE}more"


@pytest.mark.parametrize("draft", ["中文 and 😀\n\n  indented\t", "ends\n", ""])
async def test_the_draft_goes_through_the_editor_byte_for_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draft: str
) -> None:
    editor(tmp_path, monkeypatch, f'env > {tmp_path}/env; cp "$2" {tmp_path}/seen; cp {tmp_path}/new "$2"')
    monkeypatch.setenv("SOME_API_KEY", "sk-secret-of-the-test")
    (tmp_path / "new").write_bytes(f"{draft}more\n".encode())
    async with live() as (stage, pilot):
        monkeypatch.setattr(type(stage.app._driver), "can_suspend", True)
        stage.screen.input.insert(draft)
        await pilot.press("f4")
        await edited(stage, pilot)
        assert (tmp_path / "seen").read_bytes() == (draft if draft.endswith("\n") else f"{draft}\n").encode()
        wanted = f"{draft}more\n" if draft.endswith("\n") else f"{draft}more"
        assert stage.screen.input.text == wanted
        assert "sk-secret" not in (tmp_path / "env").read_text()
        await pilot.press("ctrl+underscore")
        assert stage.screen.input.text == draft


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("exit 3", "ended with exit code 3"),
        ("kill -9 $$", "was killed by signal 9"),
        ('rm "$2"', "removed its file"),
        ("printf '\\351' > \"$2\"", "no UTF-8"),
        (None, "could not be started"),
        ("", "There is no editor"),
    ],
)
async def test_an_editor_that_fails_leaves_the_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, told: str
) -> None:
    if script:
        editor(tmp_path, monkeypatch, f'echo "$2" > {tmp_path}/where\n{script}')
    else:
        monkeypatch.setenv("VISUAL", str(tmp_path / "no-editor") if script is None else "")
        monkeypatch.delenv("EDITOR", raising=False)
    async with live() as (stage, pilot):
        monkeypatch.setattr(type(stage.app._driver), "can_suspend", True)
        await pilot.press(*"my draft", "f4")
        await edited(stage, pilot)
        assert any(told in line for line in stage.screen.transcript.shown_text)
        assert stage.screen.input.text == "my draft"
        file = Path((tmp_path / "where").read_text().strip() if script else tmp_path / "none")
        assert file.exists() == (told == "no UTF-8"), "what was written is kept where it cannot be taken over"
        if file.exists():
            shutil.rmtree(file.parent)


async def test_what_is_written_is_kept_from_a_kill_and_forgotten_when_sent() -> None:
    async with live() as (stage, pilot):
        stage.screen.input.post_message(events.Paste(LINES))
        await pilot.press(*"not sent")
        await pilot.pause(PAUSE_S + 0.3)
        assert stage.drafts == [f"{LINES}not sent"]
        await pilot.press("!")
        stage.screen.input.begin(Purpose("deny", "why not"))
        await pilot.press(*"because")
        await pilot.pause(PAUSE_S + 0.3)
        assert stage.drafts[1:] == [f"{LINES}not sent!"]
        await pilot.press("escape", "enter")
        await pilot.pause(0.1)
        assert stage.drafts[2:] == [""]
        await pilot.press(*"left")
    assert stage.drafts[3:] == ["left"]


async def test_what_a_killed_tori_left_unsent_is_in_the_input_again() -> None:
    stage = Stage(draft="half a thou")
    async with stage.app.run_test(size=(80, 24)) as pilot:
        await ready(stage, pilot)
        await pilot.press(*"ght")
        assert stage.screen.input.text == "half a thought"
        assert "in the input again" in " ".join(stage.screen.transcript.shown_text)
        assert stage.drafts == []
