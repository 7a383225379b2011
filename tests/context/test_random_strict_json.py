from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.context.test_random_sessions import STEPS, Session, violations
from tori_tui.context.build import BuiltRequest
from tori_tui.context.plan import plan_block
from tori_tui.memory.model_facts import ModelFacts, TextCallers
from tori_tui.runtime.encoding import Encoding
from tori_tui.runtime.written_calls import WrittenCalls


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(STEPS), min_size=1, max_size=30), st.integers(0, 9))
def test_every_request_in_json_is_valid_and_holds_what_is_never_cut(steps: list[str], salt: int) -> None:
    session = Session()
    callers = TextCallers(ModelFacts(Path("/nowhere")))
    encoding = Encoding("json", callers, lambda: WrittenCalls((), None, str))
    before: BuiltRequest | None = None
    for number, step in enumerate(steps, salt):
        session.step(step, number)
        before = session.request(before)
        request = encoding.encode(before, session.state).request
        assert violations(request) == []
        log = session.state.log
        words = [entry.message.text for entry in log if entry.message.is_users_word]
        assert [message.text for message in request.messages if message.is_users_word] == words
        assert request.system[-1].text == plan_block(session.state.tree)
        assert request.messages[-1].role == "user"
        failures = [entry.message.text for entry in log if entry.message.is_error]
        shown = "\n".join(message.text for message in request.messages)
        assert not failures or failures[-1] in shown
        assert "unchanged since" not in shown
