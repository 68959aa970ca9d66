"""A small engine with round figures: prefill 10 ms + 1 ms per token, decode 5 ms + 1 ms per sequence, blocks of 4."""

from collections.abc import Sequence
from dataclasses import replace

from loadtests.simulator.domain.engine import Engine
from loadtests.simulator.domain.generation import FinishReason, Generation, Life, Progress, RequestId
from loadtests.simulator.domain.profile import DecodeCost, Limits, Memory, PrefillCost, Profile, StartUp

LIMITS = Limits(window_tokens=64, block_tokens=4, max_sequences=8, max_batched_tokens=64)
MEMORY = Memory(
    total_bytes=10_000,
    utilisation=0.9,
    weights_bytes=4_000,
    kv_bytes_per_token=10,
    activation_bytes_per_token=1,
    activation_reserve_bytes=1_000,
)
SMALL = Profile(
    name="small",
    provenance="round figures for tests",
    prefill=PrefillCost(base_ms=10, per_token_ms=1, per_pair_ms=0),
    decode=DecodeCost(weights_ms=5, per_sequence_ms=1),
    memory=MEMORY,
    limits=LIMITS,
    start_up=StartUp(load_s=0, first_request_ms=0),
)
"""A pool of 100 blocks, 99 of which can be had: 396 tokens."""


def with_blocks(blocks: int, *, profile: Profile = SMALL) -> Profile:
    return replace(profile, memory=replace(profile.memory, blocks=blocks))


def with_limits(limits: Limits, *, profile: Profile = SMALL) -> Profile:
    return replace(profile, limits=limits)


def a_generation(name: str, prompt: Sequence[int], output: Sequence[int] = (1, 2, 3)) -> Generation:
    return Generation(RequestId(name), tuple(prompt), tuple(output), max_tokens=1_000)


def a_life(*, generated: int) -> Life:
    return Life(
        reason=FinishReason.STOP,
        prompt_tokens=10,
        cached_tokens=4,
        generated_tokens=generated,
        max_tokens=20,
        preemptions=0,
        arrived_s=1.0,
        scheduled_s=1.5,
        first_token_s=2.0,
        ended_s=4.0,
    )


def run_out(engine: Engine) -> list[Progress]:
    """Step until nothing is left to do."""
    said: list[Progress] = []
    while (step := engine.step()) is not None:
        said.extend(step.progress)
    return said


def reply_to(engine: Engine, generation: Generation) -> Progress:
    """Submit one request to an idle engine, and return its last progress."""
    engine.submit(generation, at_s=engine.clock_s)
    last = run_out(engine)[-1]
    assert last.finished is not None
    assert last.finished is not FinishReason.ABORT
    return last
