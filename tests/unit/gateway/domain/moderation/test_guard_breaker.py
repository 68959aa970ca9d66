"""When a guard that was silent is asked again."""

from gateway.domain.moderation.guard_breaker import GuardBreaker


def test_one_silence_of_a_guard_that_answers_nobody_is_enough() -> None:
    breaker = GuardBreaker(pause_s=5.0)
    assert breaker.may_ask(10.0)
    breaker.failed(asked_at=10.0, now=12.0)
    assert breaker.is_open
    assert not breaker.may_ask(16.9)


def test_a_guard_that_answers_others_meanwhile_is_there() -> None:
    breaker = GuardBreaker(pause_s=5.0)
    breaker.answered(11.0)
    breaker.failed(asked_at=10.0, now=12.0)
    assert not breaker.is_open
    breaker.failed(asked_at=11.5, now=13.5)
    assert breaker.is_open


def test_after_the_pause_one_tries_it_for_all() -> None:
    breaker = GuardBreaker(pause_s=5.0)
    breaker.failed(asked_at=0.0, now=2.0)
    assert [breaker.may_ask(at) for at in (7.0, 7.1, 11.9)] == [True, False, False]
    assert breaker.may_ask(12.0), "one who went away without an answer keeps nobody out for good"
    breaker.answered(12.5)
    assert not breaker.is_open
    assert [breaker.may_ask(at) for at in (12.6, 12.7)] == [True, True]
