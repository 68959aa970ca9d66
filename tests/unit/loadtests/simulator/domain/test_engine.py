"""The simulated engine."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.simulator.domain.engine import OUT_OF_MEMORY, Engine, PromptTooLong, QueueFull
from loadtests.simulator.domain.generation import FinishReason, RequestId
from loadtests.simulator.domain.profile import StartUp
from tests.support.simulated import LIMITS, MEMORY, SMALL, a_generation, reply_to, run_out, with_blocks, with_limits


def test_the_first_token_comes_after_the_prompt_and_the_others_at_the_pace_of_the_batch() -> None:
    engine = Engine(SMALL)
    engine.submit(a_generation("a", range(20), (7, 8, 9)), at_s=0)
    steps = [engine.step() for _ in range(3)]
    assert [step.duration_s for step in steps if step] == pytest.approx([0.030, 0.006, 0.006])
    assert [progress.tokens for step in steps if step for progress in step.progress] == [(7,), (8,), (9,)]
    assert engine.step() is None


def test_an_engine_tells_whether_it_caches() -> None:
    assert Engine(SMALL).caches_prefixes
    assert not Engine(SMALL, caches_prefixes=False).caches_prefixes


def test_a_step_starts_no_sooner_than_its_first_request_came() -> None:
    engine = Engine(SMALL)
    engine.submit(a_generation("a", range(20)), at_s=5.0)
    assert engine.begin(at_s=5.0) == pytest.approx(5.030)
    life = run_out_life(engine)
    assert life == pytest.approx((0, 0.030))


def run_out_life(engine: Engine) -> tuple[float, float]:
    said = [*engine.end().progress, *run_out(engine)]
    life = said[-1].life
    assert life is not None
    return life.queue_s, life.to_first_token_s


def test_what_comes_during_a_step_waits_for_its_end() -> None:
    engine = Engine(SMALL)
    engine.submit(a_generation("a", range(20)), at_s=0)
    engine.begin(at_s=0)
    engine.submit(a_generation("b", range(100, 110)), at_s=0.010)
    assert [progress.id for progress in engine.end().progress] == ["a"]
    second = engine.step()
    assert second is not None
    assert second.duration_s == pytest.approx(0.020 + 0.001)
    assert [progress.id for progress in second.progress] == ["a", "b"]
    life = run_out(engine)[-1].life
    assert life is not None
    assert life.queue_s == pytest.approx(0.020)


def test_figures_move_only_when_a_step_ends() -> None:
    engine = Engine(SMALL)
    engine.submit(a_generation("a", range(20)), at_s=0)
    engine.begin(at_s=0)
    for number in range(4):
        engine.submit(a_generation(f"w{number}", range(8)), at_s=0.001)
    assert (engine.figures.running, engine.figures.waiting, engine.figures.prompt_tokens) == (0, 0, 0)
    engine.end()
    assert (engine.figures.running, engine.figures.waiting, engine.figures.prompt_tokens) == (1, 4, 20)


def test_the_very_first_request_is_slower() -> None:
    engine = Engine(replace(SMALL, start_up=StartUp(load_s=0, first_request_ms=500)))
    first, second = (reply_to(engine, a_generation(name, range(n, n + 20))).life for name, n in (("a", 0), ("b", 50)))
    assert first is not None
    assert second is not None
    assert first.to_first_token_s == pytest.approx(0.530)
    assert second.to_first_token_s == pytest.approx(0.030)


def test_a_slowed_engine_takes_longer() -> None:
    engine = Engine(SMALL)
    engine.slowdown = 3
    engine.submit(a_generation("a", range(20)), at_s=0)
    assert engine.begin(at_s=0) == pytest.approx(0.090)


def test_a_conversation_hits_its_own_history_in_whole_blocks() -> None:
    engine = Engine(SMALL)
    history = tuple(range(10))
    reply_to(engine, a_generation("1", history, (50, 51, 52)))
    second = reply_to(engine, a_generation("2", (*history, 50, 51, 52, 60, 61)))
    assert second.cached_tokens == 12
    edited = reply_to(engine, a_generation("3", (*history, 99, 51, 52, 60, 61)))
    assert edited.cached_tokens == 8


def test_salts_do_not_share_a_cache() -> None:
    engine = Engine(SMALL)
    reply_to(engine, a_generation("1", range(20)))
    other = reply_to(engine, replace(a_generation("2", range(20)), salt="other"))
    same = reply_to(engine, replace(a_generation("3", range(20)), salt="other"))
    assert (other.cached_tokens, same.cached_tokens) == (0, 16)


def test_old_prefixes_make_room_for_new_ones() -> None:
    engine = Engine(with_blocks(8))
    reply_to(engine, a_generation("old", range(12)))
    reply_to(engine, a_generation("new", range(100, 124)))
    assert reply_to(engine, a_generation("old again", range(12))).cached_tokens == 0


def test_the_cache_can_be_emptied_unless_somebody_is_using_it() -> None:
    engine = Engine(SMALL)
    engine.submit(a_generation("a", range(20)), at_s=0)
    engine.step()
    assert not engine.forget_prefixes()
    run_out(engine)
    assert engine.forget_prefixes()
    assert reply_to(engine, a_generation("b", range(20))).cached_tokens == 0


def test_a_full_queue_refuses_until_a_step_has_ended() -> None:
    engine = Engine(with_limits(replace(LIMITS, max_queued_requests=2)))
    assert engine.profile.limits.max_queued_requests == 2
    engine.submit(a_generation("a", range(4)), at_s=0)
    engine.begin(at_s=0)
    engine.submit(a_generation("b", range(4)), at_s=0)
    with pytest.raises(QueueFull):
        engine.submit(a_generation("c", range(4)), at_s=0)
    assert engine.figures.rejected == 1
    engine.end()
    engine.submit(a_generation("c", range(4)), at_s=0)


def test_a_prompt_longer_than_the_window_is_refused() -> None:
    with pytest.raises(PromptTooLong, match="65 tokens in a window of 64"):
        Engine(SMALL).submit(a_generation("a", range(65)), at_s=0)


def test_an_aborted_request_leaves_nothing_behind() -> None:
    engine = Engine(SMALL)
    engine.submit(a_generation("a", range(20)), at_s=0)
    engine.submit(a_generation("b", range(100, 120)), at_s=0)
    engine.begin(at_s=0)
    engine.abort(RequestId("a"))
    engine.abort(RequestId("never heard of"))
    assert [progress.id for progress in engine.end().progress] == ["b"]
    assert {progress.id for progress in run_out(engine)} == {"b"}
    assert engine.figures.finished[FinishReason.ABORT] == 0
    assert engine.forget_prefixes()


def test_a_request_can_be_aborted_between_steps() -> None:
    engine = Engine(SMALL)
    engine.submit(a_generation("a", range(20)), at_s=0)
    engine.abort(RequestId("a"))
    assert engine.is_idle
    assert engine.step() is None


def test_all_can_be_aborted_at_once() -> None:
    engine = Engine(with_limits(replace(LIMITS, max_sequences=1)))
    for name in "ab":
        engine.submit(a_generation(name, range(4)), at_s=0)
    engine.step()
    assert engine.figures.running == 1
    engine.begin(at_s=0)
    engine.abort_all()
    assert engine.is_idle
    assert (engine.figures.running, engine.figures.kv_usage) == (0, 0)
    assert engine.forget_prefixes()


def test_a_step_can_be_made_to_end_later() -> None:
    engine = Engine(SMALL)
    engine.submit(a_generation("a", range(20)), at_s=0)
    engine.begin(at_s=0)
    assert engine.postpone(2.0) == pytest.approx(2.030)
    assert engine.end().duration_s == pytest.approx(2.030)


def test_nothing_can_end_that_was_not_begun() -> None:
    with pytest.raises(RuntimeError, match="no step was begun"):
        Engine(SMALL).end()


def test_a_step_that_only_continues_replies_is_known() -> None:
    engine = Engine(SMALL)
    engine.submit(a_generation("a", range(4), (1, 2, 3)), at_s=0)
    seen = []
    while engine.begin(at_s=0) is not None:
        seen.append(engine.only_goes_on)
        engine.end()
    assert seen == [False, True, False]


def test_long_prompts_together_kill_the_engine_and_one_after_another_do_not() -> None:
    profile = replace(SMALL, memory=replace(MEMORY, activation_reserve_bytes=30, blocks=100))
    apart = Engine(profile)
    for name, start in (("a", 0), ("b", 100)):
        reply_to(apart, a_generation(name, range(start, start + 20)))
    together = Engine(profile)
    for name, start in (("a", 0), ("b", 100)):
        together.submit(a_generation(name, range(start, start + 20)), at_s=0)
    step = together.step()
    assert step is not None
    assert step.died_of == OUT_OF_MEMORY
    assert step.progress == ()


def test_a_step_says_who_was_preempted() -> None:
    engine = Engine(with_blocks(7))
    engine.submit(a_generation("a", range(10), range(12)), at_s=0)
    engine.submit(a_generation("b", range(100, 110), range(12)), at_s=0)
    preempted: list[RequestId] = []
    while (step := engine.step()) is not None:
        preempted.extend(step.preempted)
    assert preempted == ["b"]


REQUESTS = st.lists(
    st.tuples(st.integers(1, 40), st.integers(0, 24), st.sampled_from([0, 0, 1_000]), st.integers(0, 3)),
    min_size=1,
    max_size=12,
)


@given(REQUESTS, st.integers(17, 30), st.integers(1, 64), st.integers(1, 4))
def test_every_request_ends_with_its_whole_reply(
    requests: list[tuple[int, int, int, int]], blocks: int, budget: int, sequences: int
) -> None:
    limits = replace(LIMITS, max_batched_tokens=budget, max_sequences=sequences)
    engine = Engine(with_limits(limits, profile=with_blocks(blocks)))
    said: dict[str, list[int]] = {}
    for number, (prompt, output, start, steps) in enumerate(requests):
        engine.submit(a_generation(str(number), range(start, start + prompt), range(output)), at_s=engine.clock_s)
        said[str(number)] = []
        for _ in range(steps):
            step = engine.step()
            for progress in step.progress if step else ():
                said[progress.id].extend(progress.tokens)
    for progress in run_out(engine):
        said[progress.id].extend(progress.tokens)
    assert list(said.values()) == [list(range(output)) for _, output, _, _ in requests]
    assert engine.figures.kv_usage == 0
    assert engine.forget_prefixes()
