"""Where a replica is in its life, from what is remembered of it."""

from dataclasses import replace

import pytest

from gateway.domain.replica_life import life_of
from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.replica_lifecycle import DEADLINES, ReplicaState
from router.fleet.domain.replica_record import Milestone, ReplicaRecord, ordered

NEW = ordered(ReplicaId("r-1"), PoolName("tutor"), now=100.0)


def after(*steps: Milestone) -> ReplicaRecord:
    """A record to which the steps came one every ten seconds."""
    record = NEW
    for number, step in enumerate(steps, start=1):
        record = record.at(step, 100.0 + 10 * number)
    return record


@pytest.mark.parametrize(
    ("steps", "state", "since", "waits_for"),
    [
        ((), ReplicaState.WANTED, 100.0, "its host to take it"),
        ((Milestone.SCHEDULED,), ReplicaState.STARTING, 110.0, "its process"),
        ((Milestone.SCHEDULED, Milestone.PROCESS_UP), ReplicaState.STARTING, 110.0, "its first answer"),
        ((Milestone.SCHEDULED, Milestone.HEALTHY), ReplicaState.WARMING, 120.0, "its canary"),
        ((Milestone.HEALTHY, Milestone.CANARY_RIGHT), ReplicaState.WARMING, 110.0, "its prefixes"),
        ((Milestone.HEALTHY, Milestone.PREFIXES_WARM), ReplicaState.WARMING, 110.0, "the routers to take it"),
        ((Milestone.HEALTHY, Milestone.JOINED), ReplicaState.READY, 120.0, ""),
        ((Milestone.JOINED, Milestone.DRAINING), ReplicaState.DRAINING, 120.0, "its sessions to move or end"),
        ((Milestone.JOINED, Milestone.STOPPING), ReplicaState.DRAINING, 120.0, "its host to stop it"),
    ],
)
def test_the_latest_step_tells_the_state(
    steps: tuple[Milestone, ...], state: ReplicaState, since: float, waits_for: str
) -> None:
    life = life_of(after(*steps))
    assert (life.state, life.since, life.waits_for) == (state, since, waits_for)


def test_every_step_leads_to_a_state() -> None:
    assert all(life_of(after(step)).state in ReplicaState for step in Milestone)


def test_one_that_failed_is_past_waiting() -> None:
    life = life_of(replace(after(Milestone.SCHEDULED, Milestone.HEALTHY), failure="its process ended: exit 1"))
    assert (life.state, life.since, life.waits_for, life.deadline) == (ReplicaState.FAILED, 120.0, "", None)


def test_what_is_on_its_way_has_a_deadline_and_what_serves_has_none() -> None:
    started = life_of(after(Milestone.SCHEDULED, Milestone.PROCESS_UP))
    assert started.deadline == 110.0 + DEADLINES[ReplicaState.STARTING].seconds
    assert life_of(started.record, start_s=900.0).deadline == 110.0 + 900.0
    assert life_of(after(Milestone.JOINED)).deadline is None
