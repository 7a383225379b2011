from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Span, Text

from tori_tui.ui.transcript.lines import folded, strip_of

GROUND = Style(color="#aaaaaa", bgcolor="#000000")
STYLES = (Style(color="red"), Style(bold=True), Style(bgcolor="blue"), Style(italic=True))
TEXT = "abcdefgh"

spans = st.lists(
    st.builds(
        lambda a, b, style: Span(min(a, b), max(a, b), style),
        st.integers(0, len(TEXT)),
        st.integers(0, len(TEXT)),
        st.sampled_from(STYLES),
    ),
    max_size=5,
)


def looks(segments: list[Segment]) -> list[tuple[str, Style | None]]:
    return [(character, segment.style) for segment in segments for character in segment.text]


def plainly(text: Text) -> list[Style]:
    """Each character in the ground and the styles of its spans, one after the other."""
    styles = [GROUND] * len(TEXT)
    for start, end, style in text.spans:
        assert isinstance(style, Style)
        styles[start:end] = [each + style for each in styles[start:end]]
    return styles


@given(spans)
def test_a_strip_has_every_character_in_all_its_styles(marks: list[Span]) -> None:
    for ordered in (marks, sorted(marks, key=lambda span: (span.start, -span.end))):
        text = Text(TEXT, spans=ordered)
        strip = strip_of(text, len(TEXT) + 2, GROUND)
        expected = [*zip(TEXT, plainly(text), strict=True), (" ", GROUND), (" ", GROUND)]
        assert looks(list(strip)) == expected


@given(st.text(alphabet="ab_ (),.中👍e\u0301", max_size=60), st.integers(2, 20))
def test_folded_rows_hold_every_character_and_fit(words: str, width: int) -> None:
    rows = folded(Text(words), width)
    assert "".join(row.plain for row in rows) == words
    assert all(cell_len(row.plain) <= width for row in rows)


def test_a_word_is_broken_only_where_much_would_stay_free() -> None:
    rows = [row.plain for row in folded(Text('checkpw(form["password"].encode(), user.password)'), 40)]
    assert rows == ['checkpw(form["password"].encode(), user.', "password)"]
    assert [row.plain for row in folded(Text("x" * 25), 10)] == ["x" * 10, "x" * 10, "x" * 5]
