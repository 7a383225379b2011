"""Judges the classifier's prompt with a real model, by hand:

    python -m tests.feedback.judge --model openai-chat/NAME [--show]

Prints how many of the pairs it sorts right, by impact, and with `--show` each that it gets wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections import Counter

from tests.feedback.pairs import PAIRS, Pair, plan_of
from tori_tui.context.classify import classify_request, read_verdicts
from tori_tui.domain.events import CommentReceived
from tori_tui.domain.ids import CommentId
from tori_tui.domain.request import ModelProfile
from tori_tui.domain.routing import Verdict, route
from tori_tui.providers.base import Provider, TextDelta
from tori_tui.providers.catalogue import profile_for
from tori_tui.providers.registry import make_provider


async def main(model: str, *, show: bool) -> None:
    profile = profile_for(model)
    provider = make_provider(profile, environ=os.environ)
    right: Counter[str] = Counter()
    for pair in PAIRS:
        verdict = await ask(provider, profile, pair)
        routing = route(plan_of(pair.plan), pair.comment, verdict)
        is_right = routing.impact == pair.impact and set(pair.goals) <= set(routing.goal_ids)
        right[pair.impact] += is_right
        if show and not is_right:
            print(f"{pair.comment!r}: {pair.impact} {pair.goals}, but {verdict}")
    for impact, n in Counter(pair.impact for pair in PAIRS).items():
        print(f"{impact:20} {right[impact]:3} of {n}")
    print(f"{'all':20} {sum(right.values()):3} of {len(PAIRS)}")
    await provider.close()


async def ask(provider: Provider, profile: ModelProfile, pair: Pair) -> Verdict:
    comment = CommentReceived(CommentId("c"), pair.comment)
    pieces = []
    async for event in provider.stream(classify_request(plan_of(pair.plan), [comment], profile)):
        if isinstance(event, TextDelta):
            pieces.append(event.text)
    return read_verdicts("".join(pieces), 1)[0]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.model, show=arguments.show))
