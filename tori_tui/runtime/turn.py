"""One turn: build the request, call the model, record the reply, run its calls.

Must not decide whether another turn follows; the runner does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count, islice
from typing import TYPE_CHECKING, Final, Protocol

from tori_tui.context.build import BuiltRequest
from tori_tui.domain.errors import ToriError
from tori_tui.domain.events import MessageAdded, NoticeShown, ReplyDiscarded, TurnFinished
from tori_tui.domain.messages import Message, ToolCall
from tori_tui.domain.request import ModelProfile
from tori_tui.domain.state import SessionState
from tori_tui.domain.usage import Usage
from tori_tui.providers.base import Provider
from tori_tui.providers.errors import ProviderError
from tori_tui.providers.fold import Reply
from tori_tui.providers.retry import Fallback
from tori_tui.runtime.clock import Clock
from tori_tui.runtime.corrections import CORRECTIONS_LIMIT, Corrections
from tori_tui.runtime.encoding import Encoding
from tori_tui.runtime.model_call import ModelCall
from tori_tui.runtime.pricing import cost_usd
from tori_tui.runtime.recorder import Recorder
from tori_tui.runtime.requests import RequestBuilder
from tori_tui.runtime.room import Room
from tori_tui.runtime.turn_end import TurnEnd
from tori_tui.runtime.understood import Understood

if TYPE_CHECKING:
    from tori_tui.runtime.calls import CallRunner

READ_ON_AFTER_S: Final = 0.01
"""The request is out by then, and no hosted model has answered yet."""


class Models(Protocol):
    """Finds the provider of a model; loading its SDK may take a second."""

    async def ready(self, name: str) -> tuple[ModelProfile, Provider]:
        """Return the model's profile and a provider for it.

        Raises:
            ToriError: The model or its key is not there.
        """
        ...

    async def fallbacks(self) -> Sequence[Fallback]:
        """Return the models to use when the session's own stays busy, in order."""
        ...


class Turn:
    """Takes one turn after the other, in the active context.

    Args:
        calls: Loads, at its first use, what runs calls.
        meanwhile: Is called while the model answers, with the state that it was sent.
    """

    def __init__(
        self,
        *,
        recorder: Recorder,
        models: Models,
        requests: RequestBuilder,
        calls: Callable[[], CallRunner],
        clock: Clock,
        new_id: Callable[[], str],
        encoding: Encoding,
        meanwhile: Callable[[SessionState], None],
    ) -> None:
        self._recorder = recorder
        self._models = models
        self._requests = requests
        self._calls = calls
        self._clock = clock
        self._new_id = new_id
        self._room = Room(recorder, requests, new_id)
        self._encoding = encoding
        self._meanwhile = meanwhile
        self._corrections = Corrections(recorder)
        self.is_compaction_wanted = False
        """The user asked for a fold, which comes before the next request."""
        self._used_ids = {str(call.id) for entry in recorder.state.log for call in entry.message.tool_calls}

    async def run(self) -> TurnEnd:
        """Take a turn.

        Raises:
            ProviderError: The model gave no whole reply; what it said is recorded as interrupted.
        """
        profile, provider = await self._models.ready(self._recorder.state.model_in_force)
        with suppress(ToriError):  # the request itself says, with its retries, what is wrong
            await provider.prepare()
        n_refusals = 0
        while True:
            try:
                return await self._ask(profile, provider)
            except ProviderError as error:
                if error.fault == "context_overflow":
                    n_refusals += 1
                    await self._room.make(profile, provider, n_refusals, error)
                elif not self._is_mended(error, profile):
                    raise

    def _is_mended(self, error: ProviderError, profile: ModelProfile) -> bool:
        """Whether the next try leaves out what the provider seems to have refused."""
        if error.fault == "late_system_refused":
            return self._requests.refuse_late(profile)
        if error.fault != "bad_request" or not self._requests.refuse_images(self._recorder.state, profile):
            return False
        self._recorder.announce(NoticeShown(f"{error.message} Sent again without its new images.", "warning"))
        return True

    async def compact(self) -> None:
        """Fold the active context's older messages, or say that there is nothing to fold."""
        self.is_compaction_wanted = False
        profile, _ = await self._models.ready(self._recorder.state.model_in_force)
        rewrite = self._requests.compacted(self._recorder.state, profile)
        if rewrite is None:
            self._recorder.announce(
                NoticeShown("Nothing can be folded: the rest is your words and the newest turn.")
            )
            return
        await self._recorder.record(rewrite)

    async def _ask(self, profile: ModelProfile, provider: Provider) -> TurnEnd:
        await self._corrections.remove()
        for n_corrections in count():
            reply, call = await self._reply(profile, provider)
            state = self._recorder.state
            understood = self._encoding.understand(reply, profile, state.tree, self._used_ids)
            if not understood.problem or n_corrections == CORRECTIONS_LIMIT:
                break
            await self._corrections.add(reply.content, call.thinking, understood.problem, understood.remedy)
        await self._corrections.remove()
        if understood.reply.content != reply.content and call.shows_text:
            self._recorder.announce(ReplyDiscarded(state.active_context, "calls were written as text"))
        if understood.notice:
            self._recorder.announce(NoticeShown(understood.notice, "warning"))
        return await self._act_on(understood, call)

    async def _reply(self, profile: ModelProfile, provider: Provider) -> tuple[Reply, ModelCall]:
        built = await self._built(profile)
        number = self._recorder.state.n_turns + 1
        call = ModelCall(
            built.request,
            self._recorder,
            self._clock,
            self._used_ids,
            self._new_id,
            shows_text=not self._encoding.is_json(profile),
        )
        context_tokens = sum(section.tokens for section in built.sections)
        reading_on = asyncio.get_running_loop().call_later(
            READ_ON_AFTER_S, self._meanwhile, self._recorder.state
        )
        try:
            reply = await call.run(provider, number, context_tokens, await self._models.fallbacks())
        except ProviderError as error:
            await self._close_cut(call, built, number, error.fault)
            raise
        except asyncio.CancelledError:
            await self._close_cut(call, built, number, "interrupted")
            raise
        finally:
            reading_on.cancel()
        self._requests.answered(built)
        await self._finish(call, built, number, reply.stop_reason, reply.usage)
        return reply, call

    async def _built(self, profile: ModelProfile) -> BuiltRequest:
        """Build the next request, after the rewrite of the view that is due before it."""
        if self.is_compaction_wanted:
            await self.compact()
        state = self._recorder.state
        built = self._requests.build(state, profile)
        rewrite = self._requests.due(state, built)
        if rewrite is not None:
            await self._recorder.record(rewrite)
            built = self._requests.build(self._recorder.state, profile)
        self._requests.sending(built)
        return built

    async def _act_on(self, understood: Understood, call: ModelCall) -> TurnEnd:
        reply = understood.reply
        state = self._recorder.state
        message = Message(
            context=state.active_context,
            goal_id=self._calls().focus_after(state.tree, reply.tool_calls),
            role="assistant",
            content=reply.content,
            origin="model",
            tool_calls=reply.tool_calls,
            usage=reply.usage,
            provider_parts=reply.provider_parts,
            thinking=call.thinking,
        )
        self._used_ids.update(str(c.id) for c in reply.tool_calls)
        record = await self._recorder.record(MessageAdded(message))
        abort_reason = None
        if reply.tool_calls:
            abort_reason = await self._calls().run(reply.tool_calls, record.seq)
        if understood.answer is not None and abort_reason is None and self._have_succeeded(reply.tool_calls):
            return await self._answer(understood.answer)
        return TurnEnd(reply.content, len(reply.tool_calls), reply.stop_reason, record.seq, abort_reason)

    def _have_succeeded(self, calls: Sequence[ToolCall]) -> bool:
        results = islice(reversed(self._recorder.state.log), len(calls))
        return not any(entry.message.is_error for entry in results)

    async def _answer(self, text: str) -> TurnEnd:
        """Record the answer that came in one reply with the call that ends the last goal."""
        state = self._recorder.state
        message = Message(state.active_context, state.tree.current_id, "assistant", text)
        record = await self._recorder.record(MessageAdded(message))
        return TurnEnd(text, 0, "end", record.seq)

    async def _finish(
        self, call: ModelCall, built: BuiltRequest, number: int, stop_reason: str, usage: Usage | None
    ) -> None:
        request = built.request
        usage = usage or Usage()
        await self._recorder.record(
            TurnFinished(
                number=number,
                context=request.context,
                goal_id=self._recorder.state.tree.current_id,
                model=call.profile.name,
                stop_reason=stop_reason,
                usage=usage,
                cost_usd=cost_usd(usage, call.profile),
                latency_s=round(call.latency_s, 3),
                duration_s=round(call.duration_s, 3),
                tries=call.n_tries,
                rewrite=built.rewrite,
                sections=built.sections,
            )
        )

    async def _close_cut(self, call: ModelCall, built: BuiltRequest, number: int, why: str) -> None:
        """Keep what a cut or cancelled reply said, outside the view; it is never acted on."""
        await self._finish(call, built, number, why, call.usage)
        state = self._recorder.state
        self._recorder.announce(ReplyDiscarded(state.active_context, why))
        if not (call.text or call.thinking):
            return
        message = Message(
            context=state.active_context,
            goal_id=state.tree.current_id,
            role="assistant",
            content=call.text,
            thinking=call.thinking,
            interrupted=True,
        )
        await self._recorder.record(MessageAdded(message))


__all__ = ["Models", "Turn"]
