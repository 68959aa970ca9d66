from router.domain.fleet import ReplicaId
from router.domain.leavers import COUNTED_S, Leavers
from router.domain.pin import Demand, PinnedLoad

A, B = ReplicaId("a"), ReplicaId("b")
NOW = 1_000.0


def test_what_was_moved_away_still_counts_where_it_was() -> None:
    leavers = Leavers()
    leavers.note(A, Demand(7), NOW)
    leavers.note(A, Demand(2), NOW + 1)
    assert leavers.counted({A: PinnedLoad(1, 10), B: PinnedLoad(3, 30)}, NOW + 1) == {
        A: PinnedLoad(3, 19),
        B: PinnedLoad(3, 30),
    }


def test_it_counts_too_where_nothing_is_left() -> None:
    leavers = Leavers()
    leavers.note(A, Demand(7), NOW)
    assert leavers.counted({}, NOW) == {A: PinnedLoad(1, 7)}


def test_it_counts_for_a_while_from_the_last_one_that_left() -> None:
    leavers = Leavers()
    leavers.note(A, Demand(7), NOW)
    leavers.note(A, Demand(7), NOW + COUNTED_S / 2)
    leavers.note(B, Demand(7), NOW)
    assert leavers.counted({}, NOW + COUNTED_S) == {A: PinnedLoad(2, 14)}
    assert leavers.counted({}, NOW + 1.5 * COUNTED_S) == {}
