"""One request inside the engine."""

from dataclasses import replace

from loadtests.simulator.domain.generation import FinishReason
from loadtests.simulator.domain.sequence import Sequence
from tests.support.simulated import a_generation


def a_sequence(prompt: int = 6, output: int = 3, *, window: int = 64, max_tokens: int = 100) -> Sequence:
    generation = replace(a_generation("r", range(prompt), range(output)), max_tokens=max_tokens)
    return Sequence(generation, number=1, window=window, arrived_s=1.0)


def test_a_reply_is_cut_by_max_tokens_and_by_the_window() -> None:
    assert a_sequence().limit == 3
    assert a_sequence(max_tokens=2).limit == 2
    assert a_sequence(prompt=6, window=7).limit == 1
    assert a_sequence(prompt=6, window=6).limit == 0


def test_it_lacks_its_prompt_and_then_one_token_at_a_time() -> None:
    sequence = a_sequence()
    assert sequence.missing == 6
    sequence.computed = 6
    assert sequence.say(2.0) == (0,)
    assert sequence.missing == 1
    assert sequence.decodes


def test_one_token_of_a_prompt_is_not_a_decode() -> None:
    assert not a_sequence(prompt=1).decodes


def test_hashes_follow_the_tokens_and_are_made_once() -> None:
    one, longer = a_sequence(prompt=8), a_sequence(prompt=12)
    assert one.hashes(2, 4) == longer.hashes(2, 4)
    assert longer.hashes(3, 4)[:2] == longer.hashes(2, 4)


def test_a_reply_continues_the_hashes_of_its_prompt() -> None:
    replied = a_sequence(prompt=6, output=2)
    asked_again = Sequence(a_generation("s", (*range(6), 0, 1)), number=2, window=64, arrived_s=0)
    assert replied.hashes(2, 4) == asked_again.hashes(2, 4)


def test_the_last_token_brings_the_end_and_its_life() -> None:
    sequence = a_sequence(output=2)
    sequence.scheduled_s = 1.5
    sequence.computed = 6
    first = sequence.progress(sequence.say(2.0))
    assert first.finished is None
    assert sequence.is_ending
    last = sequence.progress(sequence.say(3.0))
    assert last.finished is FinishReason.STOP
    assert last.life is not None
    assert (last.life.arrived_s, last.life.scheduled_s, last.life.first_token_s, last.life.ended_s) == (1, 1.5, 2, 3)


def test_a_cut_reply_ends_by_its_length() -> None:
    sequence = a_sequence(max_tokens=1)
    assert sequence.progress(sequence.say(2.0)).finished is FinishReason.LENGTH


def test_an_empty_reply_ends_without_a_token() -> None:
    sequence = a_sequence(output=0)
    last = sequence.progress(sequence.say(2.0))
    assert last.tokens == ()
    assert last.finished is FinishReason.STOP


def test_what_was_preempted_is_to_be_computed_again() -> None:
    sequence = a_sequence()
    sequence.computed = sequence.published = 6
    sequence.say(2.0)
    sequence.forget_work()
    assert sequence.missing == 7
    assert sequence.preemptions == 1
    assert sequence.blocks == []


def test_an_end_before_it_was_scheduled_has_no_gaps() -> None:
    sequence = a_sequence(output=0)
    life = sequence.progress(()).life
    assert life is not None
    assert life.whole_s == life.queue_s == 0
