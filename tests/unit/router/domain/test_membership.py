"""Who is in the fleet, by the source and the operators together."""

from router.domain.board import Board, Drain
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.domain.membership import members

A, B, C = ReplicaId("a"), ReplicaId("b"), ReplicaId("c")


def spec(name: ReplicaId, *, at: str = "", is_closed: bool = False) -> ReplicaSpec:
    return ReplicaSpec(name, f"http://{at or name}", is_closed=is_closed)


def test_without_orders_the_source_is_the_fleet_in_its_order() -> None:
    assert members([spec(B), spec(A)], Board()) == (spec(B), spec(A))


def test_what_was_added_comes_after_it() -> None:
    assert members([spec(B)], Board(added=(spec(A),))) == (spec(B), spec(A))


def test_what_was_removed_is_out_whoever_names_it() -> None:
    assert members([spec(A), spec(B)], Board(added=(spec(C),), removed=frozenset({A, C}))) == (spec(B),)


def test_the_source_knows_best_where_a_replica_is() -> None:
    assert members([spec(A, at="new")], Board(added=(spec(A, at="old"),))) == (spec(A, at="new"),)


def test_what_is_drained_is_closed_and_so_is_what_its_source_has_closed() -> None:
    drained = Board(drains={B: Drain(B, since=0.0, deadline=1.0)})
    fleet = members([spec(A), spec(B), spec(C, is_closed=True)], drained)
    assert [each.is_closed for each in fleet] == [False, True, True]
