"""Where a turn goes, by pin and fleet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.fleet import AffinityKey, Fleet, Health, Replica, ReplicaId
from router.domain.pin import Pin
from router.domain.placement import Assign, Keep, Refuse, fewest_sessions, place, place_without_pins
from router.domain.rendezvous import rank

KEY = AffinityKey("session-1")
A, B, C = ReplicaId("a"), ReplicaId("b"), ReplicaId("c")


def fleet(**health: Health) -> Fleet:
    return Fleet(tuple(Replica(ReplicaId(name), f"http://{name}", state) for name, state in health.items()))


@pytest.mark.parametrize("health", [Health.READY, Health.UNKNOWN])
def test_a_pin_whose_replica_may_live_is_kept(health: Health) -> None:
    seen = fleet(a=health, b=Health.READY)
    assert place(KEY, seen, Pin(A, 3)) == Keep(seen.replicas[0])


@pytest.mark.parametrize("health", [Health.DOWN, Health.REFUSED])
def test_a_pin_whose_replica_must_not_serve_is_replaced(health: Health) -> None:
    assert place(KEY, fleet(a=health, b=Health.READY), Pin(A, 3)) == Assign((B,), replacing=Pin(A, 3))


def test_a_pin_whose_replica_left_the_fleet_is_replaced() -> None:
    assert place(KEY, fleet(b=Health.READY), Pin(A, 1)) == Assign((B,), replacing=Pin(A, 1))


def test_a_new_session_may_go_to_the_ready_replicas_in_its_own_order() -> None:
    seen = fleet(a=Health.READY, b=Health.UNKNOWN, c=Health.READY)
    assert place(KEY, seen, None) == Assign(tuple(rank(KEY, [A, C])), replacing=None)


@pytest.mark.parametrize("pin", [None, Pin(A, 1)])
def test_nothing_ready_is_a_refusal(pin: Pin | None) -> None:
    assert place(KEY, fleet(a=Health.DOWN, b=Health.UNKNOWN), pin) == Refuse()


def test_one_more_replica_moves_nobody() -> None:
    before, after = fleet(a=Health.READY), fleet(a=Health.READY, b=Health.READY)
    assert place(KEY, before, Pin(A, 1)) == place(KEY, after, Pin(A, 1))


@pytest.mark.parametrize("last", [A, B, C])
def test_without_pins_a_session_returns_to_its_last_replica(last: ReplicaId) -> None:
    seen = fleet(a=Health.READY, b=Health.READY, c=Health.READY)
    assert place_without_pins(KEY, seen, last) == seen.get(last)


@pytest.mark.parametrize("prefer", [None, C, ReplicaId("unheard of")])
def test_without_pins_and_a_ready_last_replica_rendezvous_decides(prefer: ReplicaId | None) -> None:
    seen = fleet(a=Health.READY, b=Health.READY, c=Health.DOWN)
    assert place_without_pins(KEY, seen, prefer) == seen.get(rank(KEY, [A, B])[0])


def test_without_pins_nothing_ready_is_nowhere_to_go() -> None:
    assert place_without_pins(KEY, fleet(a=Health.REFUSED), A) is None


def test_the_earlier_of_equals_has_the_fewest_sessions() -> None:
    assert fewest_sessions([B, A, C], {A: 1, B: 1, C: 1}) == B


def test_a_replica_nobody_counted_has_no_sessions() -> None:
    assert fewest_sessions([A, B], {A: 1}) == B


@given(st.dictionaries(st.sampled_from([A, B, C]), st.integers(0, 5), min_size=1))
def test_no_candidate_has_fewer_sessions_than_the_chosen(counts: dict[ReplicaId, int]) -> None:
    assert counts[fewest_sessions(list(counts), counts)] == min(counts.values())
