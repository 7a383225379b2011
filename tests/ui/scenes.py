"""Sessions as they look at some moment, for tests and pictures."""

from __future__ import annotations

from tests.ui.fakes import answered, call, mission, plan, result, said
from tori_tui.domain.events import (
    ApprovalChanged,
    CallStreamed,
    CommentReceived,
    CommentRouted,
    DurableEvent,
    ErrorOccurred,
    Fold,
    MessagesFolded,
    RequestStarted,
    RetryScheduled,
    RunStatusChanged,
    TextStreamed,
    ThinkingStreamed,
    ToolOutputStreamed,
    ToolRunStarted,
    TransientEvent,
    TurnFinished,
)
from tori_tui.domain.goals import Evidence
from tori_tui.domain.ids import MAIN_CONTEXT, ApprovalId, CallId, CommentId, GoalId, Seq
from tori_tui.domain.plan_edits import GoalAbandoned, GoalAdded, GoalCompleted, GoalFocused
from tori_tui.domain.usage import Usage

DIFF = """--- a/app/login.py
+++ b/app/login.py
@@ -12,7 +12,9 @@ def login(request):
     user = find_user(request.form["name"])
     if user is None:
         return "no such user", 404
-    if user.password == request.form["password"]:
+    if not bcrypt.checkpw(request.form["password"].encode(), user.password):
+        return "wrong password", 403
+    session["user"] = user.id
     return redirect("/")
"""

ANSWER = """The user model already hashes with **bcrypt**, so the endpoint only has to compare:

1. look the user up by name,
2. `bcrypt.checkpw` against the stored hash,
3. put the id into the session.

```python
def login(request):
    user = find_user(request.form["name"])
    return 404 if user is None else check(user)  # one place
```
"""


def _goal(number: str, text: str, parent: str | None = None, check: str | None = None) -> GoalAdded:
    return GoalAdded(GoalId(number), GoalId(parent) if parent else None, text, check)


def _turn(number: int, goal: str | None, seconds: float) -> TurnFinished:
    usage = Usage(input_tokens=31_000 + number * 900, output_tokens=420, cached_tokens=28_000)
    return TurnFinished(
        number, MAIN_CONTEXT, GoalId(goal) if goal else None, "replay/x", "calls", usage, 0.03, 0.4, seconds
    )


def working_session() -> list[DurableEvent]:
    return [
        RunStatusChanged("running", model="anthropic/claude-sonnet-5", mode="ask", cwd="/tmp/project"),
        mission("Implement user authentication"),
        said("Implement user authentication"),
        answered(
            "I look at the code first.",
            call("c1", "goal", add="Analyse the code\nPlan A\nTests", focus="1"),
            call("c2", "read_file", path="models/user.py"),
        ),
        plan(
            _goal("1", "Analyse the code"),
            _goal("2", "Sessions in Redis"),
            _goal("3", "Tests"),
            GoalFocused(GoalId("1")),
        ),
        result("c1", "Added: 1, 2, 3.", name="goal"),
        result("c2", "class User:\n" * 60, name="read_file", goal="1", duration_s=0.02),
        _turn(1, "1", 1.2),
        answered(
            "", call("c3", "goal", done="The user model is in models/user.py, bcrypt", focus="2"), goal="1"
        ),
        plan(GoalCompleted(GoalId("1"), "The user model is in models/user.py"), GoalFocused(GoalId("2"))),
        result("c3", "Done: 1.", name="goal", goal="1"),
        plan(
            GoalAbandoned(GoalId("2"), "needs Redis"),
            GoalAdded(
                GoalId("2'"), None, "Sessions in the database", after_id=GoalId("2"), replaces=GoalId("2")
            ),
            _goal("2'.1", "Design the interface", "2'"),
            _goal("2'.2", "Login endpoint", "2'", "pytest -q tests/test_login.py"),
            _goal("2'.3", "Register endpoint", "2'"),
            GoalFocused(GoalId("2'.1")),
        ),
        MessagesFolded(
            MAIN_CONTEXT,
            "goal 1 ended",
            (Fold((Seq(4), Seq(6), Seq(7)), "bcrypt; models/user.py", GoalId("1")),),
        ),
        plan(
            GoalCompleted(GoalId("2'.1"), "one table, one cookie", Evidence("true", 0)),
            GoalFocused(GoalId("2'.2")),
        ),
        CommentReceived(CommentId("k1"), "use bcrypt, not argon2"),
        CommentRouted(CommentId("k1"), "current", "classifier"),
        said("use bcrypt, not argon2", "2'.2", "comment"),
        answered(
            ANSWER,
            call("c4", "edit_file", path="app/login.py"),
            call("c5", "bash", command="pytest -q tests/test_login.py"),
            goal="2'.2",
        ),
        result(
            "c4",
            "edited",
            name="edit_file",
            goal="2'.2",
            duration_s=0.01,
            details={"diff": DIFF, "added_lines": 3, "removed_lines": 1, "changed_paths": ["app/login.py"]},
        ),
        result(
            "c5",
            "....F\n\nE   AssertionError: 403 != 200\n1 failed, 4 passed in 0.31s",
            goal="2'.2",
            is_error=True,
            duration_s=2.1,
            details={"exit_code": 1},
        ),
        _turn(2, "2'.2", 3.1),
    ]


def asking_edit() -> list[DurableEvent]:
    return [
        *working_session(),
        answered(
            "The test sends the wrong field.",
            call("c6", "edit_file", path="tests/test_login.py"),
            goal="2'.2",
        ),
        ApprovalChanged(
            ApprovalId("a1"),
            CallId("c6"),
            "edit_file",
            "edit_file tests/test_login.py",
            "asked",
            DIFF,
            "edits are asked in the mode ask",
            rules=("edit_file(tests/test_login.py)",),
        ),
        RunStatusChanged("waiting"),
    ]


def asking_command() -> list[DurableEvent]:
    command = "set -e\nfor t in tests/test_*.py; do\n  pytest -q $t | tail -3\ndone\nrm -rf build/ dist/"
    return [
        *working_session(),
        answered("", call("c6", "bash", command=command), goal="2'.2"),
        ApprovalChanged(
            ApprovalId("a1"),
            CallId("c6"),
            "bash",
            "bash set -e; for t in …",
            "asked",
            command,
            "rm deletes files",
            rules=(f"bash({command})",),
        ),
        RunStatusChanged("waiting"),
    ]


def streaming_session() -> list[DurableEvent | TransientEvent]:
    return [
        *working_session(),
        RequestStarted(MAIN_CONTEXT, 3, "anthropic/claude-sonnet-5", 62_000),
        ThinkingStreamed(MAIN_CONTEXT, "The test sends `pass`, the form wants `password`. Mend the test."),
        TextStreamed(MAIN_CONTEXT, "Two things are wrong:\n\n- the wrong field is sent\n- 中文 and 😀 are"),
        CallStreamed(MAIN_CONTEXT, "0", "bash", '{"command": "pytest'),
    ]


def running_session() -> list[DurableEvent | TransientEvent]:
    return [
        *working_session(),
        answered("", call("c6", "bash", command="pytest -q"), goal="2'.2"),
        ToolRunStarted(CallId("c6"), "bash", "bash pytest -q"),
        ToolOutputStreamed(CallId("c6"), "tests/test_login.py ....\ntests/test_register.py .."),
        CommentReceived(CommentId("k2"), "also test that a wrong name gives 404,\nnot 403"),
        RetryScheduled(MAIN_CONTEXT, 2, 6, 4.0, "529: the provider is overloaded"),
    ]


def ended_session() -> list[DurableEvent]:
    return [
        *working_session(),
        ErrorOccurred("provider", "429: too many requests", "Wait a little, or choose another model.", 429),
        answered("All endpoints answer; 12 tests pass.", goal="2'.2"),
        RunStatusChanged("incomplete", "2 goals are open: 2'.3, 3"),
    ]
