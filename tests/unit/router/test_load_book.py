"""What is taken is given back once; what the engines say corrects the sums."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.engine_metrics import EngineMetrics
from router.domain.fleet import Health, Replica, ReplicaId
from router.load_book import LoadBook, Reservation

A, B = ReplicaId("a"), ReplicaId("b")


def a_book(*, most: int = 2, kv_share: float = 1.0, freed: Callable[[], None] = lambda: None) -> LoadBook:
    return LoadBook(max_in_flight=most, kv_share=kv_share, freed=freed)


def sized(replica: ReplicaId, tokens: int | None) -> Replica:
    return Replica(replica, "http://x", Health.READY, kv_capacity_tokens=tokens)


def test_a_place_is_given_back_once_however_often_it_is_released() -> None:
    book = a_book()
    first, second = book.reserve(A, 10), book.reserve(A, 20)
    assert (book.own(), book.own_kv_tokens(A)) == ({A: 2}, 30)
    for _ in range(3):
        first.release()
    assert (book.own(), book.own_kv_tokens(A)) == ({A: 1}, 20)
    second.release()
    assert (book.own(), book.own_kv_tokens(A), book.own_kv_tokens(B)) == ({}, 0, 0)


def test_a_replica_is_full_while_it_has_as_many_turns_as_it_may() -> None:
    book = a_book(most=2)
    places = [book.reserve(A, 0) for _ in range(2)]
    assert book.full == {A}
    places[0].release()
    assert book.full == set()


def test_a_replica_whose_cache_is_spoken_for_is_full() -> None:
    book = a_book(most=100, kv_share=0.5)
    book.saw_fleet([sized(A, 1_000), sized(B, None)])
    first, _ = book.reserve(A, 300), book.reserve(B, 10_000)
    assert book.full == set()
    second = book.reserve(A, 200)
    assert book.full == {A}
    second.release()
    first.release()
    assert book.full == set()


def test_what_others_run_there_counts_until_it_is_asked_again() -> None:
    book = a_book(most=4)
    mine = book.reserve(A, 0)
    book.saw_metrics(A, EngineMetrics(running=3, waiting=1))
    assert (book.streams(A), book.full) == (4, {A})
    mine.release()
    assert (book.streams(A), book.full) == (3, set())
    book.saw_metrics(A, EngineMetrics(running=0, waiting=0))
    assert book.streams(A) == 0


def test_an_engine_that_has_not_noticed_our_turns_yet_lends_us_none() -> None:
    book = a_book(most=3)
    places = [book.reserve(A, 0) for _ in range(2)]
    book.saw_metrics(A, EngineMetrics(running=0, waiting=0))
    assert book.streams(A) == 2
    for place in places:
        place.release()
    assert book.streams(A) == 0


def test_what_the_engine_does_not_tell_is_not_considered() -> None:
    book = a_book(most=2)
    book.saw_metrics(A, EngineMetrics(running=5))
    assert book.full == {A}
    book.saw_metrics(A, EngineMetrics())
    assert (book.full, book.streams(A)) == (set(), 0)
    book.saw_metrics(A, EngineMetrics(kv_usage=1.0))
    assert book.full == set()


def test_a_cache_that_is_emptier_than_guessed_has_room_and_a_fuller_one_has_none() -> None:
    book = a_book(most=100)
    book.saw_fleet([sized(A, 1_000)])
    places = [book.reserve(A, 400) for _ in range(3)]
    assert book.full == {A}
    book.saw_metrics(A, EngineMetrics(kv_usage=0.3))
    assert book.full == set()
    for place in places:
        place.release()
    assert book.full == set()
    book.saw_metrics(A, EngineMetrics(kv_usage=1.0, kv_capacity_tokens=1_000))
    assert book.full == {A}


def test_who_waits_is_called_when_there_is_room_and_only_then() -> None:
    calls: list[str] = []
    book = a_book(most=1, freed=lambda: calls.append("freed"))
    first, second = book.reserve(A, 0), book.reserve(A, 0)
    first.release()
    assert calls == []
    second.release()
    assert calls == ["freed"]
    book.saw_metrics(A, EngineMetrics(running=7))
    assert calls == ["freed"]
    book.saw_metrics(A, EngineMetrics(running=0))
    assert calls == ["freed", "freed"]


def test_a_replica_that_comes_and_goes_keeps_its_counts() -> None:
    book = a_book(most=1)
    place = book.reserve(A, 5)
    for replicas in ([], [sized(A, None)], [sized(A, 100)], []):
        book.saw_fleet(replicas)
        assert (book.own(), book.full) == ({A: 1}, {A})
    place.release()
    assert (book.own(), book.full) == ({}, set())
    book.saw_fleet([])
    assert book.own_kv_tokens(A) == 0


def test_a_replica_that_has_gone_is_full_no_more() -> None:
    book = a_book(most=1)
    book.saw_metrics(A, EngineMetrics(running=9))
    book.saw_fleet([])
    assert (book.full, book.streams(A)) == (set(), 0)


steps = st.lists(
    st.tuples(st.sampled_from(["take", "give", "metrics", "flap"]), st.sampled_from([A, B]), st.integers(0, 50)),
    max_size=80,
)


@pytest.mark.parametrize("capacity", [None, 100])
@given(steps=steps)
def test_the_sums_are_true_after_any_steps_and_never_negative(
    steps: list[tuple[str, ReplicaId, int]], capacity: int | None
) -> None:
    book, held = a_book(most=3), list[Reservation]()
    for kind, replica, number in steps:
        match kind:
            case "take":
                held.append(book.reserve(replica, number))
            case "give" if held:
                place = held.pop(number % len(held))
                place.release()
                place.release()
            case "metrics":
                usage = None if number % 3 else number / 50
                book.saw_metrics(replica, EngineMetrics(number, None if number % 2 else 1, usage, capacity))
            case _:
                book.saw_fleet([sized(replica, capacity)] if number % 2 else [])
        for each in (A, B):
            own = [place for place in held if place.replica == each]
            assert book.own().get(each, 0) == len(own)
            assert book.own_kv_tokens(each) == sum(place.kv_tokens for place in own)
            assert book.streams(each) >= len(own)
            assert each in book.full or len(own) < 3
    for place in held:
        place.release()
    assert book.own() == {}


def test_no_number_that_a_caller_writes_takes_more_than_a_window() -> None:
    book = a_book()
    book.saw_fleet([Replica(A, "http://x", Health.READY, kv_capacity_tokens=1_000, window_tokens=300)])
    place = book.reserve(A, 99_999_999)
    assert book.own_kv_tokens(A) == 300
    assert not book.full
    place.release()
    assert book.own_kv_tokens(A) == 0
