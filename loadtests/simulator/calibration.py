"""Measures a live replica and makes a profile of it: growing conversations for prompts, streams together for pace."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from statistics import median
from typing import Protocol

from loadtests.simulator.domain.fit import FirstToken, NotEnoughMeasured, Pace, Quality, fit_decode, fit_prefill
from loadtests.simulator.domain.profile import Profile, Source, SourceKind
from loadtests.simulator.live_replica import Heard, Message, NotMeasurable, Shape

_WORDS = re.findall(
    r"\w+",
    """price plan month order ship office phone account team manager week offer budget renew contract support city
    street morning evening question answer detail number report train guide policy claim visit repair service""",
)

STARTS = (0.04, 0.12, 0.24, 0.4)
"""Cold prompts, as shares of the window in words; a word is about a token."""
FOLLOW_UPS = (0.015, 0.05, 0.02, 0.1)
"""What each following turn adds."""
STREAMS = (1, 2, 4, 8)
LARGEST_PROMPT = 1_900
"""Words, below the 2,048 tokens that vLLM computes in one step by default: beyond it a step more is paid."""


class Measurable(Protocol):
    """A replica that can be asked for a turn, and tells its times."""

    async def shape(self) -> Shape: ...

    async def turn(self, model: str, messages: Sequence[Message], *, tokens: int) -> Heard: ...


@dataclass(frozen=True, slots=True)
class Effort:
    rounds: int = 3
    """How often every conversation and every number of streams is measured, with other words each time."""
    reply_tokens: int = 48
    speed_up: float = 1.0
    """Of a simulated replica, whose seconds are shorter than ours."""


@dataclass(frozen=True, slots=True)
class Calibration:
    profile: Profile
    prefill: Quality
    decode: Quality


async def calibrate(
    replica: Measurable, *, like: Profile, name: str, effort: Effort, tell: Callable[[str], None]
) -> Calibration:
    """What cannot be seen from outside, memory above all, is taken from the profile `like`."""
    shape = await replica.shape()
    meter = _Meter(replica=replica, shape=shape, effort=effort)
    await meter.warm_up()
    turns, paces = [], []
    for round_ in range(effort.rounds):
        tell(f"round {round_ + 1} of {effort.rounds}: conversations")
        turns += [turn for share in STARTS for turn in await meter.conversation(share)]
        tell(f"round {round_ + 1} of {effort.rounds}: streams together")
        paces += [await meter.pace(streams) for streams in STREAMS]
    try:
        prefill, prefill_quality = fit_prefill(turns)
        decode, decode_quality = fit_decode(paces)
    except NotEnoughMeasured as error:
        raise NotMeasurable(f"no law can be fitted: {error}") from error
    measured = replace(
        _shaped(like, shape),
        name=name,
        provenance=f"Measured on a live replica of {shape.model}; what is not seen from outside is as in {like.name}.",
        prefill=prefill,
        decode=decode,
    )
    measured = replace(measured, sources=tuple(_sources(like, shape, prefill_quality, decode_quality)))
    return Calibration(measured, prefill_quality, decode_quality)


class _Meter:
    def __init__(self, *, replica: Measurable, shape: Shape, effort: Effort) -> None:
        self._replica = replica
        self._shape = shape
        self._effort = effort
        self._dice = Random()  # noqa: S311  # words that no earlier conversation had, not secrets
        self._words = min(shape.window_tokens, LARGEST_PROMPT / max(STARTS))

    async def warm_up(self) -> None:
        await self._ask([self._message(20)], tokens=4)

    async def conversation(self, share: float) -> list[FirstToken]:
        """The first turn is cold; each following one hits what stands before it."""
        messages, turns = [], []
        for part in (share, *FOLLOW_UPS):
            messages.append(self._message(int(part * self._words)))
            heard = await self._ask(messages, tokens=1)
            messages.append({"role": "assistant", "content": heard.text})
            if heard.cached_tokens is None:
                raise NotMeasurable("the server hides what it had cached; start it with --enable-prompt-tokens-details")
            uncached = heard.prompt_tokens - heard.cached_tokens
            turns.append(FirstToken(uncached, heard.cached_tokens, self._ms(heard.moments[0][0])))
        return turns

    async def pace(self, streams: int) -> Pace:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._stamped()) for _ in range(streams)]
        heard = [task.result() for task in tasks]
        # Only while all of them run: from the last first token to the first last one.
        begin = max(moments[0][0] for moments in heard)
        end = min(moments[-1][0] for moments in heard)
        gaps = [gap for moments in heard for gap in _gaps(moments, begin=begin, end=end)]
        if not gaps:
            raise NotMeasurable("the streams did not run together; ask for longer replies")
        return Pace(streams, self._ms(median(gaps)))

    async def _stamped(self) -> list[tuple[float, int]]:
        sent = asyncio.get_running_loop().time()
        heard = await self._ask([self._message(15)], tokens=self._effort.reply_tokens)
        return [(sent + moment, tokens) for moment, tokens in heard.moments]

    async def _ask(self, messages: list[Message], *, tokens: int) -> Heard:
        return await self._replica.turn(self._shape.model, messages, tokens=tokens)

    def _message(self, words: int) -> Message:
        return {"role": "user", "content": " ".join(self._dice.choice(_WORDS) for _ in range(max(8, words)))}

    def _ms(self, seconds: float) -> float:
        return seconds * 1000 * self._effort.speed_up


def _gaps(moments: list[tuple[float, int]], *, begin: float, end: float) -> Iterator[float]:
    """Seconds per token over half the time each, so that tokens which arrive together do not look fast."""
    inside = [moment for moment in moments if begin <= moment[0] <= end]
    middle = len(inside) // 2
    for part in (inside[: middle + 1], inside[middle:]):
        if len(part) > 1 and part[-1][1] > part[0][1]:
            yield (part[-1][0] - part[0][0]) / (part[-1][1] - part[0][1])


def _shaped(like: Profile, shape: Shape) -> Profile:
    limits = replace(
        like.limits,
        window_tokens=shape.window_tokens,
        block_tokens=shape.block_tokens or like.limits.block_tokens,
    )
    return replace(like, limits=limits, memory=replace(like.memory, blocks=shape.blocks or like.memory.blocks))


def _sources(like: Profile, shape: Shape, prefill: Quality, decode: Quality) -> Iterator[Source]:
    told = {"limits.window_tokens": shape.window_tokens, "limits.block_tokens": shape.block_tokens}
    told["memory.blocks"] = shape.blocks
    for cost, figures, quality in (
        ("prefill", ("base_ms", "per_token_ms", "per_pair_ms"), prefill),
        ("decode", ("weights_ms", "per_sequence_ms"), decode),
    ):
        why = (
            f"Least squares over {quality.kept} readings, {quality.dropped} disturbed ones left out; "
            f"median error {quality.median_error:.1%}."
        )
        yield from (Source(f"{cost}.{figure}", SourceKind.MEASURED, why) for figure in figures)
    yield from (
        Source(figure, SourceKind.REPORTED, "The server says so.")
        for figure, value in told.items()
        if value is not None
    )
    measured = ("prefill.", "decode.")
    for source in like.sources:
        if not source.figure.startswith(measured) and told.get(source.figure) is None:
            yield replace(source, why=f"As in {like.name}: {source.why}")
