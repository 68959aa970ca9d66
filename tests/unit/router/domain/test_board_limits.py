"""What the board takes and what it refuses."""

import pytest

from router.domain.board_limits import MOST_ENTRIES, check_in_flight, check_name, check_spec, has_place
from router.domain.fleet import ReplicaId, ReplicaSpec

A = ReplicaId("a")


@pytest.mark.parametrize("name", ["a", "x" * 200, "副本 1", "pool/replica:8000"])
def test_a_printable_name_is_taken(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("name", ["", "x" * 201, "a\n", "\0", "\u2028", "\ud800"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="a name must be"):
        check_name(name)


def test_a_replica_is_taken_with_url_and_models() -> None:
    check_spec(ReplicaSpec(A, "http://a:8000", frozenset({"m"})))


@pytest.mark.parametrize(
    "spec",
    [
        ReplicaSpec(ReplicaId(""), "http://a"),
        ReplicaSpec(A, ""),
        ReplicaSpec(A, "http://" + "a" * 2_000),
        ReplicaSpec(A, "http://a", frozenset({"m\n"})),
        ReplicaSpec(A, "http://a", frozenset(map(str, range(101)))),
    ],
)
def test_a_replica_that_does_not_fit_is_refused(spec: ReplicaSpec) -> None:
    with pytest.raises(ValueError, match=r"must be|more than"):
        check_spec(spec)


def test_streams_in_flight_are_told_of_so_many_replicas() -> None:
    check_in_flight({ReplicaId(str(number)): 1 for number in range(MOST_ENTRIES)})
    with pytest.raises(ValueError, match="more than"):
        check_in_flight({ReplicaId(str(number)): 1 for number in range(MOST_ENTRIES + 1)})


def test_the_board_fills_up() -> None:
    assert has_place(MOST_ENTRIES - 1)
    assert not has_place(MOST_ENTRIES)
