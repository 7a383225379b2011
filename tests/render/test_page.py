from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from tests.render.sessions import HOSTILE, Told, everything, goal, long_session
from tori_tui.domain.ids import GoalId
from tori_tui.domain.plan_edits import GoalCompleted, GoalFocused
from tori_tui.render.page.account import account_of
from tori_tui.render.page.html_page import html_page
from tori_tui.render.page.markdown_page import markdown_page

VOID = {"meta", "input", "img", "br", "hr"}


class Outline(HTMLParser):
    """Reads a page: every element with its attributes and text, and whether each is closed in order."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = (tag, {name: value or "" for name, value in attrs}, list[str]())
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self._open, tag
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        for _, _, texts in self._open:
            texts.append(data)

    def texts(self, tag: str, css_class: str = "") -> list[str]:
        return [
            "".join(texts)
            for name, attributes, texts in self.elements
            if name == tag and css_class in ("", *attributes.get("class", "").split())
        ]

    def attributes(self, tag: str, css_class: str = "") -> list[dict[str, str]]:
        return [
            found
            for name, found, _ in self.elements
            if name == tag and css_class in ("", *found.get("class", "").split())
        ]


@pytest.fixture(scope="module")
def page() -> str:
    return html_page(everything())


@pytest.fixture(scope="module")
def outline(page: str) -> Outline:
    return Outline(page)


def test_the_plan_leads_to_each_goal(outline: Outline) -> None:
    plan = outline.texts("aside")[0]
    assert "Look <around>" in plan
    assert "⑂ 1 finished" in plan
    places = {attributes["id"] for _, attributes, _ in outline.elements if "id" in attributes}
    links = [a["href"] for a in outline.attributes("a") if a.get("href", "").startswith("#")]
    assert "#goal-2%27" in links
    assert {link[1:].replace("%27", "'") for link in links} <= places
    assert len(places) == sum("id" in attributes for _, attributes, _ in outline.elements)


def test_goals_and_calls_fold(outline: Outline) -> None:
    goals = outline.texts("details", "goal")
    assert [text.strip()[:1] for text in goals] == ["✓", "✗", "✗", "✗", "▶"]
    calls = outline.texts("details", "call")
    assert any("read_file" in text and "needle in the file" in text for text in calls)
    assert any("rm -rf build" in text and "denied: keep it" in text for text in calls)


def test_what_a_goal_came_to_stands_outside_of_its_fold(outline: Outline) -> None:
    outcomes = outline.texts("div", "outcome")
    assert "→ It is in app.py" in outcomes[0]
    assert "check pytest -q → exit 0" in outcomes[0]
    assert "given up: needs Redis" in outcomes[1]
    assert not any("It is in app.py" in text for text in outline.texts("details", "goal"))


def test_a_diff_is_coloured_line_by_line_with_numbers(outline: Outline) -> None:
    assert outline.texts("span", "add") == ["+new = '</script>'\n"]
    assert outline.texts("span", "del") == ["-old = '<b>'\n"]
    assert outline.attributes("span", "add")[0]["data-n"] == "2"


def test_a_comment_shows_where_it_went(outline: Outline) -> None:
    told = next(text for text in outline.texts("article", "user") if "中文" in text)
    assert "→ goal 2" in told


def test_what_a_rewind_took_back_is_folded_and_told_apart(outline: Outline) -> None:
    assert len(outline.texts("details", "lost")) == 1
    assert "A wrong way." in outline.texts("details", "lost")[0]


def test_a_branch_is_told_inside_its_call(outline: Outline) -> None:
    assert any(
        "The queue is slower." in text and "Try a queue" in text
        for text in outline.texts("details", "branch")
    )


def test_errors_folds_thoughts_and_ends_are_told(outline: Outline) -> None:
    assert "The server is busy." in outline.texts("p", "error")[0]
    assert "2 messages left the model's view" in outline.texts("details", "fold")[0]
    assert "Where to begin?" in outline.texts("details", "thought")[0]
    assert "interrupted · by the user" in outline.texts("p", "run")[0]


def test_markup_of_others_is_words(outline: Outline) -> None:
    assert len(outline.texts("script")) == 1
    assert len(outline.texts("style")) == 1
    images = outline.attributes("img")
    assert [image["src"][:22] for image in images] == ["data:image/png;base64,"]
    assert any("<img src=x onerror=alert(2)>" in text for text in outline.texts("pre", "output"))
    assert not any(name.startswith("on") or name == "style" for _, a, _ in outline.elements for name in a)


def test_links_lead_only_to_the_web_and_tell_nothing(outline: Outline) -> None:
    links = [a for a in outline.attributes("a") if not a.get("href", "#").startswith("#")]
    assert [a["href"] for a in links] == ["https://example.com/?a=1&b=2"]
    assert links[0]["rel"] == "noopener noreferrer nofollow"


def test_what_steers_a_screen_is_shown(page: str) -> None:
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert "␛[31mred" in page
    assert "\\u202eabc" in page


def test_the_page_allows_nothing_but_its_own_style_and_script(outline: Outline) -> None:
    policy = next(a["content"] for a in outline.attributes("meta") if "http-equiv" in a)
    assert policy.startswith("default-src 'none'; ")
    for tag, directive in (("style", "style-src"), ("script", "script-src")):
        digest = base64.b64encode(hashlib.sha256(outline.texts(tag)[0].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_nothing_in_the_page_is_loaded_from_elsewhere(outline: Outline, page: str) -> None:
    assert not {"link", "iframe", "object", "embed", "video", "audio", "base", "form"} & {
        name for name, _, _ in outline.elements
    }
    assert "url(" not in outline.texts("style")[0]
    assert "@import" not in page


def test_ended_goals_of_a_long_session_come_folded_and_open_ones_open() -> None:
    told = Told("m")
    told.plan(goal("1", "ended"), goal("2", "open"), GoalFocused(GoalId("1")))
    for number in range(70):
        told.call("read_file", {"path": f"{number}.py"}, "x")
    told.plan(GoalCompleted(GoalId("1"), "done"), GoalFocused(GoalId("2")))
    told.model("working")
    goals = Outline(html_page(account_of("t", told.records))).attributes("details", "goal")
    assert ["open" in attributes for attributes in goals] == [False, True]


def test_a_goal_without_work_of_its_own_still_tells_what_it_came_to() -> None:
    told = Told("m")
    told.plan(goal("1", "outer"), goal("1.1", "inner", parent="1"), GoalFocused(GoalId("1.1")))
    told.model("inside")
    told.plan(GoalCompleted(GoalId("1.1"), "small"), GoalCompleted(GoalId("1"), "large"))
    outcomes = Outline(html_page(account_of("t", told.records))).texts("div", "outcome")
    assert [text.strip() for text in outcomes] == ["→ small", "1 outer→ large"]


def test_a_very_long_output_is_cut_in_the_middle_and_says_so() -> None:
    told = Told("m")
    told.call("bash", {"command": "yes"}, "a" * 50_000 + "MIDDLE" + "b" * 50_000)
    page = html_page(account_of("t", told.records))
    assert "MIDDLE" not in page
    assert "40,006 characters left out here" in page


@pytest.mark.parametrize("piece", ["[", "![a", ">", "`", "*a_"])
def test_text_made_to_stop_a_parser_does_not(piece: str) -> None:
    told = Told("m")
    told.model(piece * 30_000)
    account = account_of("t", told.records)
    assert html_page(account).endswith("</html>\n")
    assert markdown_page(account).endswith("exported by tori\n")


def test_a_session_without_anything_is_a_page_too() -> None:
    assert "A session without a mission" in Outline(html_page(account_of("t", ()))).texts("h1")[0]


def test_hostile_ids_and_names_stay_in_their_attributes() -> None:
    told = Told(HOSTILE)
    evil = GoalId("1\"'><script>x</script>")
    told.plan(goal(evil, HOSTILE), GoalFocused(evil))
    told.call(HOSTILE, {HOSTILE: HOSTILE}, HOSTILE, {"diff": f"@@ -1 +1 @@\n-{HOSTILE}\n+x\n"})
    outline = Outline(html_page(account_of(HOSTILE, told.records)))
    assert len(outline.texts("script")) == 1
    assert not outline.attributes("img")


def test_five_thousand_messages_make_a_page_that_is_drawn_piece_by_piece() -> None:
    page = html_page(long_session(5_000))
    assert page.count('class="e call') > 1_500
    assert "content-visibility: auto" in page
