"""Every wait has its end, and every end its reason."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.patience import Limits, Patience

LIMITS = Limits(connect_s=2, total_s=300, answer_s=10, first_event_s=30, event_s=20)
EVENT = b'data: {"x":1}\n\n'
BEGAN = 1000.0


def patience(limits: Limits = LIMITS) -> Patience:
    return Patience(limits, now=BEGAN)


def test_who_waits_for_the_whole_alone_is_blind() -> None:
    whole = patience(Limits(connect_s=2, total_s=300))
    assert whole.is_blind_since(BEGAN)
    assert not whole.is_blind_since(BEGAN - 0.1)
    assert not patience().is_blind_since(BEGAN)


def test_the_answer_is_waited_for_from_the_request() -> None:
    waiting = patience()
    assert waiting.deadline(BEGAN + 5) == BEGAN + 10
    assert waiting.complaint(BEGAN + 10) == "no answer within 10 s"


def test_the_first_event_is_waited_for_from_the_request_too() -> None:
    waiting = patience()
    waiting.was_answered()
    assert waiting.deadline(BEGAN + 5) == BEGAN + 30
    assert waiting.complaint(BEGAN + 30) == "no first token within 30 s"


def test_a_shorter_time_for_the_first_event_bounds_the_answer() -> None:
    waiting = patience(Limits(connect_s=2, total_s=300, answer_s=10, first_event_s=0.3, event_s=20))
    assert waiting.deadline(BEGAN) == BEGAN + 0.3
    assert waiting.complaint(BEGAN + 0.3) == "no first token within 0.3 s"


def test_the_next_event_is_waited_for_from_when_the_taker_waits() -> None:
    waiting = patience()
    waiting.was_answered()
    waiting.had(EVENT)
    assert waiting.deadline(BEGAN + 100) == BEGAN + 120
    assert waiting.deadline(BEGAN + 110) == BEGAN + 120
    assert waiting.complaint(BEGAN + 120) == "no token for 20 s"


def test_each_event_begins_a_new_wait() -> None:
    waiting = patience()
    for moment in (1.0, 15.0, 30.0):
        waiting.had(EVENT)
        assert waiting.deadline(BEGAN + moment) == BEGAN + moment + 20


def test_comments_lengthen_nothing() -> None:
    waiting = patience()
    waiting.was_answered()
    waiting.had(b": keep-alive\n\n")
    assert waiting.deadline(BEGAN + 29) == BEGAN + 30
    waiting.had(EVENT)
    assert waiting.deadline(BEGAN + 29) == BEGAN + 49
    waiting.had(b": keep-alive\n\n")
    assert waiting.deadline(BEGAN + 40) == BEGAN + 49


def test_the_whole_has_its_end_whatever_comes() -> None:
    waiting = patience()
    waiting.had(EVENT)
    assert waiting.deadline(BEGAN + 295) == BEGAN + 300 == waiting.end
    assert waiting.complaint(BEGAN + 300) == "the reply took longer than 300 s"


def test_connecting_takes_no_longer_than_the_whole_may() -> None:
    assert patience().connect_s == 2
    assert patience(Limits(connect_s=2, total_s=0.5)).connect_s == 0.5


def test_a_whole_answer_is_bounded_in_all_only() -> None:
    waiting = patience(Limits(connect_s=2, total_s=300))
    assert waiting.deadline(BEGAN) == BEGAN + 300
    waiting.was_answered()
    waiting.had(b'{"choices": [{"text": "data:"}]}')
    assert waiting.deadline(BEGAN + 250) == BEGAN + 300


@given(st.lists(st.integers(1, 8), min_size=1), st.binary(max_size=12).filter(lambda noise: b"data:" not in noise))
def test_an_event_is_seen_however_it_is_cut(cuts: list[int], noise: bytes) -> None:
    waiting = patience(Limits(connect_s=2, total_s=inf, first_event_s=30, event_s=20))
    wire = noise + b"\ndata: x\n\n"
    while wire:
        size = cuts[len(wire) % len(cuts)]
        waiting.had(wire[:size])
        wire = wire[size:]
    assert waiting.deadline(BEGAN + 100) == BEGAN + 120


@pytest.mark.parametrize("piece", [b"", b"d", b"dat", b"data", b"ata:", b": ping\n\n"])
def test_half_a_mark_is_no_event(piece: bytes) -> None:
    waiting = patience()
    waiting.had(piece)
    waiting.had(b"\n")
    assert waiting.deadline(BEGAN + 1) == BEGAN + 10
