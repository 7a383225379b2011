from __future__ import annotations

import xml.etree.ElementTree as ET

from tests.render.sessions import HOSTILE, Told, everything
from tori_tui.render.page.account import account_of
from tori_tui.render.page.svg_picture import svg_picture


def words(picture: str) -> str:
    """Return the text of a picture, which must be well-formed."""
    return " ".join(ET.fromstring(picture).itertext()).replace("\u00a0", " ")


def test_the_picture_shows_the_folded_session() -> None:
    text = words(svg_picture(everything()))
    assert "Mission: Mend the 登录 page" in text
    assert "It is in app.py" in text


def test_it_loads_nothing() -> None:
    picture = svg_picture(everything())
    assert "@font-face" not in picture
    assert "http" not in picture.replace("http://www.w3.org/2000/svg", "").replace("http://evil.example", "")
    assert picture.count("url(") == picture.count("url(#")


def test_hostile_text_is_text() -> None:
    told = Told(HOSTILE + "\ufffe")
    picture = svg_picture(account_of("t", told.records))
    assert "<img" not in picture
    assert "</script>" in words(picture)


def test_what_is_too_long_for_a_line_goes_on_below_its_first_word() -> None:
    told = Told("m")
    told.model("word " * 60)
    rows = ET.fromstring(svg_picture(account_of("t", told.records))).iter("{http://www.w3.org/2000/svg}text")
    assert all(len(row.text or "") <= 100 for row in rows)
