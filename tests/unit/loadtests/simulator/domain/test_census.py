"""Keeps the counters that the engine's figures are made of."""

from dataclasses import replace

import pytest

from loadtests.simulator.domain.engine import Engine
from tests.support.simulated import SMALL, a_generation, reply_to, run_out, with_blocks


def test_tokens_are_counted_by_where_they_came_from() -> None:
    engine = Engine(SMALL)
    reply_to(engine, a_generation("a", range(10), (1, 2, 3)))
    reply_to(engine, a_generation("b", range(10), (1, 2, 3)))
    figures = engine.figures
    assert (figures.prompt_tokens, figures.cached_tokens, figures.generation_tokens) == (20, 8, 6)
    assert (figures.prefix_queried_tokens, figures.prefix_hit_tokens) == (20, 8)
    assert sum(figures.finished.values()) == 2
    # 12 tokens of prompts that had to be computed, and one for each that was spoken.
    assert figures.distributions.step_tokens.sum == 18
    assert sum(figures.distributions.first_token_s.counts) == 2
    assert sum(figures.distributions.between_tokens_s.counts) == 4


def test_a_request_that_does_not_ask_the_cache_is_no_query() -> None:
    engine = Engine(SMALL)
    reply_to(engine, replace(a_generation("a", range(10)), reads_cache=False))
    assert engine.figures.prefix_queried_tokens == 0


def test_a_preempted_request_asks_the_cache_again_but_is_counted_once() -> None:
    engine = Engine(with_blocks(7, profile=SMALL))
    engine.submit(a_generation("a", range(10), range(12)), at_s=0)
    engine.submit(a_generation("b", range(100, 110), range(12)), at_s=0)
    run_out(engine)
    figures = engine.figures
    assert figures.preemptions > 0
    assert figures.prefix_queried_tokens == figures.prompt_tokens == 20
    assert figures.generation_tokens == 24
    assert figures.distributions.preemptions.sum == figures.preemptions


def test_memory_is_in_use_while_requests_run_and_not_when_idle() -> None:
    engine = Engine(with_blocks(11, profile=SMALL))
    engine.submit(a_generation("a", range(10)), at_s=0)
    engine.step()
    assert engine.figures.kv_usage == pytest.approx(0.3)
    run_out(engine)
    assert engine.figures.kv_usage == 0
    assert engine.figures.blocks == 11
