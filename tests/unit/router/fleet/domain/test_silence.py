"""Who has said nothing for too long."""

from router.domain.fleet import ReplicaId
from router.fleet.domain.silence import Silence

A, B = ReplicaId("a"), ReplicaId("b")


def mute(silence: Silence, answers: dict[ReplicaId, bool | None], now: float) -> set[ReplicaId]:
    return set(silence.mute(answers, dead_after_s=60.0, now=now))


def test_one_that_fails_its_canaries_for_a_minute_is_mute() -> None:
    answers: dict[ReplicaId, bool | None] = {A: False, B: True}
    silence = Silence().after(answers, now=100.0).after(answers, now=159.0)
    assert mute(silence, answers, 159.0) == set()
    assert mute(silence.after(answers, now=160.0), answers, 160.0) == {A}


def test_an_answer_ends_the_silence_and_not_to_know_does_not() -> None:
    silence = Silence().after({A: False, B: True}, now=100.0)
    assert silence.after({A: True, B: True}, now=130.0) == Silence()
    assert silence.after({A: None, B: None}, now=130.0) == silence
    assert silence.after({B: True}, now=130.0) == Silence()


def test_when_nobody_answers_it_is_the_asker_who_is_not_heard() -> None:
    silence = Silence({A: 0.0, B: 0.0})
    assert mute(silence, {A: False, B: False}, 1e6) == set()
    assert mute(silence, {A: False, B: None}, 1e6) == set()
    assert mute(Silence({A: 0.0}), {A: False, B: True}, 1e6) == {A}


def test_who_has_been_silent_for_so_long_is_told_whoever_else_is() -> None:
    silence = Silence({A: 0.0, B: 10.0})
    assert silence.lasting(15.0, now=15.0) == {A}
    assert silence.lasting(15.0, now=25.0) == {A, B}


def test_the_only_one_is_believed_dead() -> None:
    assert mute(Silence({A: 0.0}), {A: False}, 60.0) == {A}
