"""Makes a profile of a replica; here of one that follows a known law exactly."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from loadtests.simulator.calibration import Effort, calibrate
from loadtests.simulator.domain.profile import DecodeCost, PrefillCost, SourceKind
from loadtests.simulator.domain.timing import Chunk, chunk_ms, decode_ms
from loadtests.simulator.live_replica import Heard, Message, NotMeasurable, Shape
from loadtests.simulator.profile_files import load, parse, text_of

PREFILL = PrefillCost(base_ms=25.0, per_token_ms=0.4, per_pair_ms=0.00004)
DECODE = DecodeCost(weights_ms=12.0, per_sequence_ms=1.5)
SHAPE = Shape(model="known", window_tokens=4_096, block_tokens=16, blocks=5_000)


class LawfulReplica:
    """A word is a token; whatever it was asked before is cached in blocks of 16."""

    def __init__(self, *, shape: Shape = SHAPE, tells_cached: bool = True, speed_up: float = 1.0) -> None:
        self._shape = shape
        self._tells_cached = tells_cached
        self._speed_up = speed_up
        self._seen: set[str] = set()
        self._running = 0

    async def shape(self) -> Shape:
        return self._shape

    async def turn(self, model: str, messages: Sequence[Message], *, tokens: int) -> Heard:
        assert model == self._shape.model
        words = " ".join(message["content"] for message in messages).split()
        cached = max((n for n in range(0, len(words), 16) if " ".join(words[:n]) in self._seen), default=0)
        self._seen.update(" ".join(words[:n]) for n in range(0, len(words), 16))
        self._running += 1
        for _ in range(3):
            await asyncio.sleep(0)  # the others have begun too
        token_s = decode_ms(DECODE, self._running) / 1000
        first_s = chunk_ms(PREFILL, Chunk(len(words) - cached, cached, opens=True)) / 1000
        for _ in range(3):
            await asyncio.sleep(0)
        self._running -= 1
        moments = tuple(((first_s + number * token_s) / self._speed_up, number + 1) for number in range(tokens))
        return Heard("reply", len(words), cached if self._tells_cached else None, moments)


async def calibrated(replica: LawfulReplica, *, effort: Effort) -> tuple[PrefillCost, DecodeCost]:
    found = await calibrate(replica, like=load("h200-7b"), name="mine", effort=effort, tell=lambda _: None)
    return found.profile.prefill, found.profile.decode


@pytest.mark.parametrize("speed_up", [1.0, 20.0])
async def test_a_known_law_is_found_again(speed_up: float) -> None:
    prefill, decode = await calibrated(LawfulReplica(speed_up=speed_up), effort=Effort(rounds=1, speed_up=speed_up))
    assert prefill.base_ms == pytest.approx(PREFILL.base_ms, rel=0.01)
    assert prefill.per_token_ms == pytest.approx(PREFILL.per_token_ms, rel=0.01)
    assert prefill.per_pair_ms == pytest.approx(PREFILL.per_pair_ms, rel=0.02)
    assert decode.weights_ms == pytest.approx(DECODE.weights_ms, rel=0.01)
    assert decode.per_sequence_ms == pytest.approx(DECODE.per_sequence_ms, rel=0.01)


async def test_the_profile_says_what_was_measured_and_what_was_taken_over() -> None:
    like = load("h200-7b")
    heard: list[str] = []
    found = await calibrate(LawfulReplica(), like=like, name="mine", effort=Effort(rounds=2), tell=heard.append)
    profile = found.profile
    kinds = {source.figure: source.kind for source in profile.sources}
    assert kinds["prefill.base_ms"] is SourceKind.MEASURED
    assert kinds["memory.blocks"] is SourceKind.REPORTED
    assert profile.blocks == 5_000
    assert (profile.limits.window_tokens, profile.limits.block_tokens) == (4_096, 16)
    assert profile.memory.weights_bytes == like.memory.weights_bytes
    written = parse(text_of(profile))
    assert replace(written, sources=()) == replace(profile, sources=())
    assert set(written.sources) == set(profile.sources)
    assert found.prefill.kept == 2 * 4 * 5
    assert len(heard) == 4


async def test_what_a_server_does_not_tell_is_taken_over() -> None:
    replica = LawfulReplica(shape=replace(SHAPE, blocks=None, block_tokens=None))
    like = load("h200-7b")
    found = await calibrate(replica, like=like, name="mine", effort=Effort(rounds=1), tell=lambda _: None)
    assert found.profile.blocks == like.blocks
    assert found.profile.limits.block_tokens == like.limits.block_tokens


async def test_a_server_that_hides_its_cache_cannot_be_measured() -> None:
    with pytest.raises(NotMeasurable, match="--enable-prompt-tokens-details"):
        await calibrated(LawfulReplica(tells_cached=False), effort=Effort(rounds=1))


async def test_replies_too_short_to_run_together_are_refused() -> None:
    with pytest.raises(NotMeasurable, match="ask for longer replies"):
        await calibrated(LawfulReplica(), effort=Effort(rounds=1, reply_tokens=1))
