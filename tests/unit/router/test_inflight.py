"""The turns that run, by replica and by session."""

from router.domain.fleet import AffinityKey, ReplicaId
from router.inflight import InFlight

A, B = ReplicaId("a"), ReplicaId("b")
KEY = AffinityKey("m\nsession-1")


class SomeTurn:
    def hand_over(self) -> None: ...


def test_turns_are_counted_where_they_run() -> None:
    in_flight, turns = InFlight(), [SomeTurn() for _ in range(3)]
    for replica, turn in zip((A, A, B), turns, strict=True):
        in_flight.enter(replica, turn)
    assert in_flight.counts() == {A: 2, B: 1}
    assert list(in_flight.turns_at(A)) == turns[:2]
    for _ in range(2):
        in_flight.leave(A, turns[0])
    in_flight.leave(B, turns[2])
    in_flight.leave(B, turns[2])
    assert (in_flight.counts(), in_flight.turns_at(B)) == ({A: 1}, ())


def test_a_turn_that_is_handed_over_is_at_two_places_for_a_moment() -> None:
    in_flight, turn = InFlight(), SomeTurn()
    in_flight.enter(A, turn)
    in_flight.enter(B, turn)
    in_flight.leave(A, turn)
    assert in_flight.counts() == {B: 1}


def test_a_session_runs_until_its_last_turn_has_ended() -> None:
    in_flight = InFlight()
    in_flight.begin(KEY)
    in_flight.begin(KEY)
    in_flight.end(KEY)
    assert in_flight.is_running(KEY)
    in_flight.end(KEY)
    assert not in_flight.is_running(KEY)
