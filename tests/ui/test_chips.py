from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.domain.messages import ContentPart
from tori_tui.domain.shown_image import ShownImage
from tori_tui.ui.chips import Chips, dropped_images, mentioned_images

DOT = ContentPart("image", media_type="image/png", data="aGk=")
BLOB = ContentPart("image", media_type="image/gif", data="aG8=")


@given(st.lists(st.one_of(st.text(max_size=40), st.just("x\n" * 30), st.just("\x1b[31m"))))
def test_every_character_of_every_paste_is_sent(pastes: list[str]) -> None:
    chips = Chips()
    draft = " and ".join(chips.shown(text) for text in pastes)
    assert chips.full(draft) == " and ".join(pastes)


def test_images_follow_in_the_order_in_which_the_draft_names_them() -> None:
    chips = Chips()
    first = chips.of_image(ShownImage("a.png", DOT, 640, 480, "shots/a.png"))
    second = chips.of_image(ShownImage("clip]board\n", BLOB))
    assert (first, second) == ("[image 1: a.png 640×480]", "[image 2: clip)board]")
    assert chips.images(f"{second} is not {first}") == (BLOB, DOT)
    assert chips.images("[image 7: typed by hand]") == ()
    assert chips.remembered(f"see {first}, {second}") == "see @shots/a.png, [image 2: clip)board]"


def test_what_was_sent_comes_back_with_its_images_also_in_another_session() -> None:
    chips = Chips()
    sent = chips.of_image(ShownImage("a.png", DOT, 640, 480))
    assert chips.given_back(sent, (DOT,)) == sent
    other = Chips()
    other.of_image(ShownImage("b.gif", BLOB))
    again = other.given_back(sent, (DOT,))
    assert again == "[image 2: a.png 640×480]"
    assert other.images(again) == (DOT,)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("/home/me/a.png", ("/home/me/a.png",)),
        ("/home/me/Screen Shot 1.PNG\n", ("/home/me/Screen Shot 1.PNG",)),
        (r"/home/me/Screen\ Shot.png ", ("/home/me/Screen Shot.png",)),
        ("'/a b.png' /c.jpg", ("/a b.png", "/c.jpg")),
        ("/a.png /b.webp", ("/a.png", "/b.webp")),
        ("file:///tmp/%E4%B8%AD.gif", ("file:///tmp/%E4%B8%AD.gif",)),
        ("https://example.org/a.png", ()),
        ("see /a.png and more", ()),
        ("/a.py", ()),
        ("a\nb.png", ()),
        ("'unclosed.png", ()),
        ("", ()),
    ],
)
def test_only_a_paste_of_nothing_but_paths_is_a_drop(text: str, paths: tuple[str, ...]) -> None:
    assert dropped_images(text) == paths


def test_mentions_of_images_are_found_without_what_follows_them() -> None:
    text = 'see @a/b.png, (@"my shot.jpg") 看＠图.webp。 me@x.png @c.py @d.PNG'
    assert mentioned_images(text) == (
        ("@a/b.png", ("a/b.png",)),
        ('@"my shot.jpg"', ("my shot.jpg",)),
        ("＠图.webp", ("图.webp",)),
        ("@d.PNG", ("d.PNG",)),
    )
