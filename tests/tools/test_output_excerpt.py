from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tori_tui.tools.output_excerpt import SHOWN_LIMIT_BYTES, excerpt, whole_characters
from tori_tui.workspace.command_output import CommandOutput, OutputFollower


def written(data: bytes) -> CommandOutput:
    output = CommandOutput.open(None)
    os.write(output.handle, data)
    return output


@given(st.text(alphabet="ab\n中é", max_size=200), st.integers(1, 200))
def test_what_is_shown_and_what_is_left_out_make_the_whole(piece: str, times: int) -> None:
    data = (piece * times).encode()
    with written(data) as output:
        shown = excerpt(output, 0, len(data), "NAME")
    if not shown.is_cut:
        assert shown.text.encode() == data
        return
    head, _, rest = shown.text.partition("[… ")
    number, _, tail = rest.partition(" bytes left out; the whole is in outputs/NAME]\n")
    head_bytes, tail_bytes = head.encode(), tail.encode()
    assert len(head_bytes) + len(tail_bytes) <= SHOWN_LIMIT_BYTES + 1
    assert data.startswith(head_bytes.rstrip(b"\n"))
    assert data.endswith(tail_bytes)
    assert "\ufffd" not in shown.text
    assert abs(int(number.replace(",", "")) - (len(data) - len(head_bytes) - len(tail_bytes))) <= 1


def test_of_a_very_large_output_only_the_ends_are_read() -> None:
    data = b"".join(b"line %d\n" % n for n in range(300_000))
    with written(data) as output:
        shown = excerpt(output, 0, len(data), None)
    assert shown.text.startswith("line 0\n")
    assert shown.text.endswith("line 299999\n")
    assert "the disk has no room" in shown.text


@pytest.mark.parametrize(
    ("data", "n_whole"),
    [
        (b"", 0),
        (b"ab", 2),
        (b"a\xe4", 1),
        (b"a\xe4\xb8", 1),
        (b"a\xe4\xb8\xad", 4),
        (b"\xf0\x9f\x98", 0),
        (b"\x80\x80", 2),
    ],
)
def test_half_a_character_at_the_end_is_seen(data: bytes, n_whole: int) -> None:
    assert whole_characters(data) == n_whole


@given(st.binary(max_size=60), st.lists(st.integers(1, 9)))
def test_following_gives_the_same_text_however_the_bytes_come(data: bytes, cuts: list[int]) -> None:
    text = ""
    with CommandOutput.open(None) as output:
        follower = OutputFollower(output)
        position = 0
        for cut in cuts:
            os.write(output.handle, data[position : position + cut])
            position += cut
            text += follower.read_new(1_000)
        os.write(output.handle, data[position:])
        text += follower.read_new(1_000, is_last=True)
    assert text == data.decode("utf-8", "replace")
