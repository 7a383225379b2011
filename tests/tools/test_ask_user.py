from __future__ import annotations

from tests.fakes.scope import FakeScope
from tori_tui.tools.ask_user import AskUserTool


async def test_answer_comes_back() -> None:
    scope = FakeScope(answer="the second")
    output = await AskUserTool().run({"question": "Which?", "options": ["a", "b"]}, scope)
    assert output.text == "The user's answer: the second"
    assert scope.asked == [("Which?", ("a", "b"))]


async def test_nobody_there_is_no_error_and_tells_to_decide() -> None:
    output = await AskUserTool().run({"question": "Which?"}, FakeScope())
    assert output.text == "Nobody is there: decide yourself, and note the assumption in your answer."
    assert not output.is_error


async def test_empty_question_is_refused_without_asking() -> None:
    scope = FakeScope(answer="x")
    output = await AskUserTool().run({"question": " "}, scope)
    assert output.is_error
    assert scope.asked == []


async def test_empty_answer_is_told_as_one() -> None:
    output = await AskUserTool().run({"question": "Which?"}, FakeScope(answer=" "))
    assert "empty answer" in output.text


async def test_preview_shows_the_whole_question() -> None:
    preview = await AskUserTool().preview({"question": "Which\nof two?"})
    assert (preview.title, preview.detail) == ("ask_user Which of two?", "Which\nof two?")
