"""What this process knows of the fleet."""

import asyncio

import pytest
from structlog.testing import capture_logs

from router.domain.board import Board, Drain
from router.domain.engine_metrics import EngineMetrics
from router.domain.fleet import Health, Replica, ReplicaId, ReplicaSpec
from router.domain.health import Observation
from router.domain.sighting import Sighting
from router.fleet_state import FleetState

A, B = ReplicaId("a"), ReplicaId("b")
AT_A, AT_B = ReplicaSpec(A, "http://a"), ReplicaSpec(B, "http://b")
ACCEPTED = Sighting(Observation.ACCEPTED, models=frozenset({"m"}))
PASSED = Sighting(Observation.CANARY_PASSED, took_ms=12.5)


def two() -> FleetState:
    state = FleetState()
    state.set_replicas([AT_A, AT_B])
    return state


def ready(*specs: ReplicaSpec) -> FleetState:
    state = FleetState()
    state.set_replicas(specs)
    for spec in specs:
        state.observe(spec, ACCEPTED)
        state.observe(spec, PASSED)
    return state


def shown(state: FleetState, name: ReplicaId = A) -> Replica:
    found = state.current().get(name)
    assert found is not None
    return found


def test_nothing_is_known_of_a_replica_at_first() -> None:
    assert [(each.id, each.health) for each in two().current().replicas] == [(A, Health.UNKNOWN), (B, Health.UNKNOWN)]


def test_a_replica_is_ready_once_it_is_accepted_and_proven() -> None:
    state = two()
    state.observe(AT_B, ACCEPTED)
    assert shown(state, B).health is Health.PROVING
    state.observe(AT_B, PASSED)
    assert shown(state, B) == Replica(B, "http://b", Health.READY, models=frozenset({"m"}))
    assert shown(state, A).health is Health.UNKNOWN
    assert state.canary_ms == {B: 12.5}


def test_its_lives_are_counted() -> None:
    state = ready(AT_A)
    assert shown(state).lives == 1
    state.observe(AT_A, PASSED)
    assert shown(state).lives == 1
    state.saw_failure(A, "refused")
    assert shown(state).lives == 1
    state.observe(AT_A, ACCEPTED)
    state.observe(AT_A, PASSED)
    assert (shown(state).health, shown(state).lives) == (Health.READY, 2)


def test_a_lost_turn_takes_it_down_with_the_reason_until_it_has_proven_itself_again() -> None:
    state = ready(AT_A)
    state.saw_failure(A, "refused")
    assert (shown(state).health, shown(state).reason) == (Health.DOWN, "refused")
    state.observe(AT_A, Sighting(Observation.PROBE_PASSED))
    state.observe(AT_A, PASSED)
    assert (shown(state).health, shown(state).reason) == (Health.DOWN, "refused")
    state.observe(AT_A, ACCEPTED)
    assert (shown(state).health, shown(state).reason) == (Health.PROVING, "refused")
    state.observe(AT_A, PASSED)
    assert (shown(state).health, shown(state).reason) == (Health.READY, "")


async def test_a_late_connect_takes_nothing_down_and_asks_for_a_look() -> None:
    state = ready(AT_A, AT_B)
    before = state.current()
    looker = asyncio.ensure_future(state.trouble(A))
    await asyncio.sleep(0)
    state.saw_late_connect(B, "no connection within 2 s")
    await asyncio.sleep(0)
    assert not looker.done()
    state.saw_late_connect(A, "no connection within 2 s")
    state.saw_late_connect(A, "no connection within 2 s")
    await looker
    assert state.current() is before
    again = asyncio.ensure_future(state.trouble(A))
    await asyncio.sleep(0)
    assert not again.done(), "one look is enough for both"
    again.cancel()
    state.observe(AT_A, Sighting(Observation.PROBE_FAILED, "gone"))
    state.saw_late_connect(A, "no connection within 2 s")
    assert (shown(state).health, shown(state).reason) == (Health.DOWN, "gone")


async def test_a_stranger_is_ignored() -> None:
    state = two()
    before = state.current()
    state.saw_failure(ReplicaId("c"), "refused")
    state.saw_late_connect(ReplicaId("c"), "no connection within 2 s")
    await state.trouble(ReplicaId("c"))
    state.observe(ReplicaSpec(ReplicaId("c"), "http://c"), ACCEPTED)
    assert state.current() is before
    assert state.get(ReplicaId("c")) is None


def test_the_fleet_is_made_anew_only_at_a_change() -> None:
    state = ready(AT_A, AT_B)
    before = state.current()
    state.observe(AT_A, Sighting(Observation.PROBE_PASSED, metrics=EngineMetrics(running=3)))
    state.set_replicas([AT_A, AT_B])
    state.apply(Board(now=2.0))
    assert state.current() is before


def test_health_survives_that_the_list_is_read_again() -> None:
    state = ready(AT_A, AT_B)
    state.set_replicas([AT_B, AT_A, ReplicaSpec(ReplicaId("c"), "http://c")])
    assert [(each.id, each.health) for each in state.current().replicas] == [
        (B, Health.READY),
        (A, Health.READY),
        (ReplicaId("c"), Health.UNKNOWN),
    ]


def test_who_is_no_longer_listed_is_gone_at_once() -> None:
    state = ready(AT_A, AT_B)
    state.set_replicas([AT_B])
    assert [each.id for each in state.current().replicas] == [B]
    assert state.size == 1


@pytest.mark.parametrize("moved", [ReplicaSpec(A, "http://new"), ReplicaSpec(A, "http://a", frozenset({"n"}))])
def test_a_replica_at_another_address_or_with_other_models_starts_anew(moved: ReplicaSpec) -> None:
    state = ready(AT_A)
    state.set_replicas([moved])
    assert shown(state) == Replica(A, moved.url, models=moved.models)


def test_what_was_seen_at_the_old_address_says_nothing_of_the_new_one() -> None:
    state = ready(AT_A)
    state.set_replicas([ReplicaSpec(A, "http://new")])
    state.observe(AT_A, ACCEPTED)
    assert shown(state).health is Health.UNKNOWN


def test_what_operators_say_it_serves_is_known_before_it_is_asked() -> None:
    state = FleetState()
    state.set_replicas([ReplicaSpec(A, "http://a", frozenset({"m"}))])
    assert [each.id for each in state.current().pool("m")] == [A]


def test_a_drained_replica_keeps_its_health_and_takes_no_new_sessions() -> None:
    state = ready(AT_A, AT_B)
    state.apply(Board(drains={A: Drain(A, since=0.0, deadline=9.0)}))
    assert (shown(state).health, shown(state).is_draining, shown(state).is_open) == (Health.READY, True, False)
    assert state.current().open_to("m") == (B,)
    state.apply(Board())
    assert state.current().open_to("m") == (A, B)


def test_what_its_source_has_closed_takes_no_new_sessions() -> None:
    state = ready(AT_A)
    state.set_replicas([ReplicaSpec(A, "http://a", is_closed=True)])
    assert (shown(state).is_ready, shown(state).is_open) == (True, False)


def test_operators_add_and_remove_beside_the_source() -> None:
    state = ready(AT_A)
    state.apply(Board(added=(AT_B,), removed=frozenset({A})))
    assert [spec.id for spec in state.members] == [B]
    state.set_replicas([AT_A])
    assert [spec.id for spec in state.members] == [B]


def test_warnings_of_registration_and_canary_are_shown_together_and_said_once() -> None:
    state = two()
    with capture_logs() as logs:
        for _ in range(2):
            state.observe(AT_A, Sighting(Observation.ACCEPTED, models=frozenset({"m"}), warnings=("old",)))
            state.observe(AT_A, Sighting(Observation.CANARY_PASSED, warnings=("no details",), took_ms=1.0))
            state.observe(AT_A, Sighting(Observation.CANARY_PASSED))
            state.saw_failure(A, "refused")
    assert shown(state).warnings == ("old", "no details")
    assert [entry["warning"] for entry in logs if "warning" in entry] == ["old", "no details"]


def test_the_capacity_is_what_was_told_last() -> None:
    state = ready(AT_A)
    state.observe(AT_A, Sighting(Observation.PROBE_PASSED, metrics=EngineMetrics(kv_capacity_tokens=100)))
    state.observe(AT_A, Sighting(Observation.PROBE_PASSED, metrics=EngineMetrics()))
    assert shown(state).kv_capacity_tokens == 100


def test_a_state_that_lasts_is_logged_once() -> None:
    state = two()
    with capture_logs() as logs:
        for number in range(5):
            state.observe(AT_A, Sighting(Observation.PROBE_FAILED, f"no answer, attempt {number}"))
        state.observe(AT_A, ACCEPTED)
        state.observe(AT_A, PASSED)
    assert [(entry["before"], entry["now"]) for entry in logs] == [("unknown", "down"), ("down", "ready")]


def test_a_replica_that_is_accepted_again_and_again_without_proof_is_logged_once() -> None:
    state = two()
    with capture_logs() as logs:
        for _ in range(5):
            state.observe(AT_A, ACCEPTED)
            state.observe(AT_A, Sighting(Observation.CANARY_FAILED, "no token for its canary within 10 s"))
    assert [(entry["before"], entry["now"]) for entry in logs] == [("unknown", "down")]


async def test_whoever_waits_is_told_of_members_that_come_and_go_and_of_nothing_else() -> None:
    state = two()
    await state.membership_changed()
    state.observe(AT_A, ACCEPTED)
    state.set_replicas([AT_A, AT_B])
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await state.membership_changed()
    state.set_replicas([AT_A])
    await state.membership_changed()
    state.set_replicas([ReplicaSpec(A, "http://new")])
    await state.membership_changed()
