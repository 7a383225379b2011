from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fakes.messages import assistant, call, result, state_of, user
from tori_tui.context.messages import GO_ON, NOT_RUN, request_messages
from tori_tui.domain.ids import MAIN_CONTEXT
from tori_tui.domain.messages import ContentPart, Message
from tori_tui.domain.view import ViewEntry

WINDOW = 200_000


def shown(*said: Message, mission: str = "the mission", window: int = WINDOW) -> tuple[Message, ...]:
    view = state_of(*said).view(MAIN_CONTEXT)
    return request_messages(view.entries, MAIN_CONTEXT, mission, window)


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [f"{message.role}: {message.text}" for message in messages]


def test_results_stand_right_behind_their_calls_in_call_order() -> None:
    asking = assistant("", call("a", "bash"), call("b", "bash"))
    messages = shown(user("go"), asking, result("b", "bash", "B"), user("wait"), result("a", "bash", "A"))
    assert texts(messages) == ["user: go", "assistant: ", "tool: A", "tool: B", "user: wait"]


def test_open_call_gets_a_result_in_the_request_only() -> None:
    messages = shown(user("go"), assistant("", call("a", "bash")), user("well?"))
    assert texts(messages) == ["user: go", "assistant: ", f"tool: {NOT_RUN}", "user: well?"]
    assert messages[2].is_error


def test_reply_behind_an_open_call_needs_no_prompt_between() -> None:
    messages = shown(user("go"), assistant("", call("a", "bash")), assistant("", call("b", "bash")))
    assert texts(messages)[1:] == ["assistant: ", f"tool: {NOT_RUN}"] * 2


def test_result_without_its_call_is_left_out() -> None:
    assert texts(shown(user("go"), result("x", "bash", "lost"))) == ["user: go"]


def test_second_result_of_a_call_is_left_out() -> None:
    said = (user("go"), assistant("", call("a", "bash")), result("a", "bash", "1"), result("a", "bash", "2"))
    assert texts(shown(*said))[-1] == "tool: 1"


def test_list_is_never_empty_and_never_ends_with_the_model() -> None:
    assert texts(shown()) == ["user: the mission"]
    assert texts(shown(mission="")) == ["user: (nothing was said)"]
    assert texts(shown(user("hi"), assistant("hello")))[-1] == f"user: {GO_ON}"
    assert texts(shown(assistant("hello"))) == ["user: the mission", "assistant: hello", f"user: {GO_ON}"]


def test_empty_messages_are_left_out() -> None:
    assert texts(shown(user("hi"), assistant("  "), user("\n"))) == ["user: hi"]


def test_long_text_of_the_user_stands_as_head_tail_and_place() -> None:
    text = "BEGIN " + "word " * 40_000 + " END"
    cut = shown(user(text))[0].text
    assert cut.startswith("BEGIN word")
    assert cut.endswith("word  END")
    assert 'recall(query="#1")' in cut
    assert len(cut) < 60_000


def test_place_of_a_kept_text_is_its_output() -> None:
    kept = Message(MAIN_CONTEXT, None, "user", "word " * 40_000, origin="comment", full="abc.txt")
    assert 'recall(query="outputs/abc.txt")' in shown(kept)[0].text


def test_long_text_keeps_its_images() -> None:
    content = (ContentPart("text", "word " * 40_000), ContentPart("image", data="x", media_type="image/png"))
    cut = shown(Message(MAIN_CONTEXT, None, "user", content, origin="user"))[0].content
    assert not isinstance(cut, str)
    assert [part.type for part in cut] == ["text", "image"]


def test_text_below_the_share_and_texts_of_others_stand_whole() -> None:
    text = "word " * 10_000
    assert shown(user(text))[0].text == text
    long = Message(MAIN_CONTEXT, None, "user", "word " * 40_000, origin="fold")
    assert shown(long)[0].text == long.text


SAID = st.lists(
    st.one_of(
        st.builds(user, st.sampled_from(["hi", "", "go on"])),
        st.builds(
            lambda text, ids: assistant(text, *(call(i, "bash") for i in ids)),
            st.sampled_from(["", "done", " "]),
            st.lists(st.sampled_from("abcd"), unique=True, max_size=3),
        ),
        st.builds(lambda i: result(i, "bash", f"result {i}"), st.sampled_from("abcd")),
    ),
    max_size=14,
)


@settings(max_examples=300)
@given(SAID)
def test_any_view_makes_a_valid_list(said: list[Message]) -> None:
    messages = shown(*said)
    assert messages[0].role == "user"
    assert messages[-1].role != "assistant"
    at = 0
    while at < len(messages):
        message = messages[at]
        assert message.role != "tool"
        assert message.tool_calls or message.text.strip()
        ids = [c.id for c in message.tool_calls]
        assert [m.tool_call_id for m in messages[at + 1 : at + 1 + len(ids)]] == ids
        at += 1 + len(ids)
    asked = [m.text for m in said if m.is_users_word and m.text.strip()]
    assert [m.text for m in messages if m.is_users_word] == asked


def test_entry_names_its_record_where_the_text_is_cut() -> None:
    entry = ViewEntry(user("x" * 100), (state_of().next_seq,))
    cut = request_messages([entry], MAIN_CONTEXT, "", window_tokens=100)[0].text
    assert "#1" in cut
