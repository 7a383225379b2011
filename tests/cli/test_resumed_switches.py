from __future__ import annotations

from tori_tui.cli.resumed_switches import resumed_switches
from tori_tui.domain.commands import SwitchMode, SwitchModel
from tori_tui.domain.state import SessionState


def test_a_resumed_session_says_at_once_what_its_next_run_will_have() -> None:
    left = SessionState(model="openai-chat/a", mode="plan")
    assert list(resumed_switches(left, None, "auto")) == [SwitchMode("auto")]
    assert list(resumed_switches(left, "openai-chat/b", "plan")) == [SwitchModel("openai-chat/b")]
    assert list(resumed_switches(left, "openai-chat/a", "plan")) == []


def test_in_a_new_session_there_is_nothing_to_switch() -> None:
    assert list(resumed_switches(SessionState(), "openai-chat/a", "auto")) == []
