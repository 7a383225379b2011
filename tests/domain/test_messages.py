from __future__ import annotations

from dataclasses import fields, replace

from tori_tui.domain.ids import MAIN_CONTEXT, CallId, CommentId, GoalId, Seq
from tori_tui.domain.messages import Message, ProviderPart, ToolCall
from tori_tui.domain.usage import Usage


def test_a_message_with_another_content_keeps_everything_else() -> None:
    message = Message(
        context=MAIN_CONTEXT,
        goal_id=GoalId("2"),
        role="tool",
        content="before",
        origin="tool",
        tool_calls=(ToolCall(CallId("c"), "bash", {"command": "ls"}),),
        usage=Usage(1, 2),
        provider_parts=(ProviderPart("p", "f", {"a": 1}),),
        thinking="hm",
        comment_id=CommentId("k"),
        interrupted=True,
        tool_call_id=CallId("c"),
        name="bash",
        is_error=True,
        duration_s=1.5,
        full="x.txt",
        shown="short",
        shown_since=(Seq(3),),
        details={"exit": 1},
    )
    plain = Message(MAIN_CONTEXT, None, "user", "")
    told = [f.name for f in fields(message) if getattr(message, f.name) != getattr(plain, f.name)]
    assert set(told) | {"context"} == {f.name for f in fields(message)}
    assert message.with_content("after") == replace(message, content="after", shown=None)
