"""Rounds: so many streams at one replica, which is lost after a random number of tokens; what each of them heard."""

import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count

import httpx

from loadtests.continuity.heard import HeardReply, differences
from loadtests.continuity.house import House, Loss

_PATH = "/v1/chat/completions"
_TIMEOUT_S = 60.0
_TRIES = 3


@dataclass(frozen=True, slots=True)
class RoundResult:
    number: int
    loss: Loss
    after_events: int
    continued: int
    """Replies that another replica went on with."""
    failures: tuple[str, ...]


class Rounds:
    """The same conversations in every round, each as a new session, so that what they should hear is known."""

    def __init__(self, house: House, *, streams: int, max_tokens: int, seed: int, counts_tokens: bool) -> None:
        self._house = house
        self._bodies = [_body(number, max_tokens) for number in range(streams)]
        self._dice = random.Random(seed)  # noqa: S311
        self._counts_tokens = counts_tokens
        self._undisturbed: Sequence[HeardReply] = ()
        self._names = count()

    async def learn(self) -> None:
        """What a replica says by itself."""
        async with _client(self._house.replicas[0].url) as client:
            self._undisturbed = await asyncio.gather(*(_heard(client, body, {}, lambda: None) for body in self._bodies))

    async def play(self, number: int) -> RoundResult:
        """Again where the replica was lost so late that nobody heard of it, which proves nothing."""
        result = await self._play_once(number)
        for _ in range(_TRIES - 1):
            if result.continued or result.failures:
                return result
            result = await self._play_once(number)
        missed = () if result.continued else ("no stream ran at the replica whenever it was lost",)
        return replace(result, failures=result.failures + missed)

    async def _play_once(self, number: int) -> RoundResult:
        victim = self._house.replicas[number % len(self._house.replicas)]
        loss = tuple(Loss)[number % len(Loss)]
        # Not in the last fifth, where most replies are over.
        total = sum(each.events for each in self._undisturbed)
        threshold = self._dice.randrange(total * 4 // 5)
        lost, heard_events = asyncio.Event(), 0

        def heard_one() -> None:
            nonlocal heard_events
            heard_events += 1
            if heard_events == threshold + 1:
                lost.set()
                victim.lose(loss)

        async with _client(self._house.url) as client:
            replies = await asyncio.gather(
                *(_heard(client, body, _headers(next(self._names), victim.name), heard_one) for body in self._bodies)
            )
        failures = [
            f"stream {place}: {', '.join(found)}"
            for place, (reply, undisturbed) in enumerate(zip(replies, self._undisturbed, strict=True))
            if (found := differences(reply, undisturbed, counts_tokens=self._counts_tokens))
        ]
        if lost.is_set():
            await asyncio.to_thread(victim.bring_back, loss)
        continued = sum(each.joints > 0 for each in replies)
        await asyncio.to_thread(self._house.wait_until_whole)
        return RoundResult(number, loss, threshold, continued, tuple(failures))


def _body(number: int, max_tokens: int) -> dict[str, object]:
    """Every third in Chinese, whose characters are cut by tokens."""
    said = f"第{number}位客户：请告诉我全部经过。" if number % 3 == 0 else f"I am customer {number}. Tell me all of it."
    messages = [{"role": "system", "content": "You are a customer of a small shop."}, {"role": "user", "content": said}]
    options = {"stream": True, "stream_options": {"include_usage": True}, "temperature": 0}
    return {"model": "smollm2", "messages": messages, "max_tokens": max_tokens, **options}


def _headers(name: int, victim: str) -> dict[str, str]:
    return {"X-Session-ID": f"session-{name}", "X-Prefer-Replica": victim}


def _client(url: str) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None)
    return httpx.AsyncClient(base_url=url, trust_env=False, timeout=_TIMEOUT_S, limits=limits)


async def _heard(
    client: httpx.AsyncClient, body: dict[str, object], headers: dict[str, str], heard_one: Callable[[], None]
) -> HeardReply:
    reply = HeardReply()
    try:
        async with client.stream("POST", _PATH, json=body, headers=headers) as answer:
            if answer.is_success:
                async for line in answer.aiter_lines():
                    if reply.line(line):
                        heard_one()
            else:
                reply.failure = f"status {answer.status_code}: {(await answer.aread())[:200]!r}"
    except httpx.TransportError as error:
        reply.failure = type(error).__name__
    return reply
