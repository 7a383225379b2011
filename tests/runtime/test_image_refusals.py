from __future__ import annotations

from dataclasses import replace

from tests.providers.requests import request, result
from tori_tui.domain.messages import ContentPart
from tori_tui.domain.request import ModelRequest
from tori_tui.runtime.image_refusals import ImageRefusals

GOOD = ContentPart("image", media_type="image/png", data="Z29vZA==")
BAD = ContentPart("image", media_type="image/png", data="YmFk")


def holding(*images: ContentPart) -> ModelRequest:
    return request(*(result(f"c{n}", (ContentPart("text", "an image"), i)) for n, i in enumerate(images)))


def sent(refusals: ImageRefusals, *images: ContentPart) -> list[bool]:
    """Which of the images go out."""
    messages = refusals.without(holding(*images)).messages
    return [isinstance(m.content, tuple) and m.content[1].type == "image" for m in messages]


def test_only_images_that_no_answer_has_followed_yet_are_suspected() -> None:
    refusals = ImageRefusals()
    refusals.take(holding(GOOD))
    assert refusals.refuse(holding(GOOD, BAD))
    assert sent(refusals, GOOD, BAD) == [True, False]


def test_a_request_without_new_images_was_refused_for_something_else() -> None:
    refusals = ImageRefusals()
    assert not refusals.refuse(request())
    refusals.take(holding(GOOD))
    assert not refusals.refuse(holding(GOOD))
    assert sent(refusals, GOOD) == [True]


def test_images_are_offered_again_if_leaving_them_out_did_not_help() -> None:
    refusals = ImageRefusals()
    assert refusals.refuse(holding(GOOD))
    assert not refusals.refuse(refusals.without(holding(GOOD)))
    assert sent(refusals, GOOD) == [True]


def test_what_was_left_out_with_success_stays_out() -> None:
    refusals = ImageRefusals()
    refusals.refuse(holding(BAD))
    refusals.take(refusals.without(holding(BAD)))
    assert not refusals.refuse(refusals.without(holding(BAD)))
    assert sent(refusals, BAD) == [False]


def test_a_request_without_refused_images_is_the_same_object() -> None:
    asked = replace(holding(GOOD))
    assert ImageRefusals().without(asked) is asked
