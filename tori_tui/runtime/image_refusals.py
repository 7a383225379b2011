"""Images that the provider would not take: left out from then on, so that no session ends by one.

Must not change the history; only what is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tori_tui.domain.messages import ContentPart, Message
from tori_tui.domain.request import ModelRequest

REFUSED: Final = "left out: the provider refused the request with it"


class ImageRefusals:
    """What became of the images of one session; forgotten at its end, since one refusal tells it again."""

    def __init__(self) -> None:
        self._taken: set[ContentPart] = set()
        self._refused: set[ContentPart] = set()
        self._on_trial: set[ContentPart] = set()
        """Left out since the last refusal; whether they were its reason shows the next answer."""

    def refuse(self, request: ModelRequest) -> bool:
        """Take in that a request was refused as wrong; return whether it may be sent without its images.

        If it fails without them too, they were not the reason.
        """
        suspects = set(_images(request)) - self._taken
        if not suspects:
            self._refused -= self._on_trial
        self._refused |= suspects
        self._on_trial = suspects
        return bool(suspects)

    def take(self, request: ModelRequest) -> None:
        """Take in that a request was answered: its images are good."""
        self._taken.update(_images(request))
        self._on_trial = set()

    def without(self, request: ModelRequest) -> ModelRequest:
        """Return the request with a note in the place of each refused image."""
        if not self._refused:
            return request
        return replace(request, messages=tuple(self._cleared(message) for message in request.messages))

    def _cleared(self, message: Message) -> Message:
        if isinstance(message.content, str) or self._refused.isdisjoint(message.content):
            return message
        parts = (
            ContentPart("text", f"[{part.media_type} {REFUSED}]") if part in self._refused else part
            for part in message.content
        )
        return replace(message, content=tuple(parts))


def _images(request: ModelRequest) -> Iterator[ContentPart]:
    for message in request.messages:
        if not isinstance(message.content, str):
            yield from (part for part in message.content if part.type == "image")


__all__ = ["ImageRefusals"]
