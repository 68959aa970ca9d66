"""How far a replica's record has come by one look."""

from dataclasses import replace

import pytest

from router.domain.drain import DrainProgress
from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.domain.replica_lifecycle import DEADLINES, ReplicaState
from router.fleet.domain.replica_record import Milestone, ReplicaRecord, WarmReport, ordered
from router.fleet.domain.sight import UNWATCHED_SHARE, Sight, Watch, advanced, guessed, seen, since, state_of
from router.fleet.domain.warmth import Unfit, Warm, Warming

NOW = 10_000.0
WATCH = Watch(names_replicas=False, since=0.0, now=NOW)
ORDER = ordered(ReplicaId("a"), PoolName("qwen"), now=NOW - 30.0)
LISTED = ORDER.at(Milestone.SCHEDULED, NOW - 20.0)
UP = LISTED.at(Milestone.PROCESS_UP, NOW - 10.0)
HEALTHY = UP.at(Milestone.HEALTHY, NOW - 5.0)
SERVING = HEALTHY.at(Milestone.PREFIXES_WARM, NOW - 2.0).at(Milestone.JOINED, NOW - 1.0)
REPORT = WarmReport("digest", 210.0, 24.0, prefixes=2, took_s=4.0)


def there(phase: HostPhase = HostPhase.RUNNING, detail: str = "") -> HostedReplica:
    return HostedReplica(ReplicaId("a"), phase, NOW - 20.0, url="http://a:1", detail=detail)


def drain(*, may_stop: bool) -> DrainProgress:
    return DrainProgress(ReplicaId("a"), (), (), 0, 0, 1.0, may_stop)


# ------------------------------------------------------------------ steps


def test_what_its_host_lists_is_scheduled_and_up_once_it_runs() -> None:
    pending = advanced(ORDER, Sight(there(HostPhase.PENDING)), WATCH)
    assert (set(pending.reached), pending.url) == ({Milestone.REQUESTED, Milestone.SCHEDULED}, "http://a:1")
    running = advanced(pending, Sight(there()), WATCH)
    assert running.reached.keys() - pending.reached.keys() == {Milestone.WEIGHTS_LOCAL, Milestone.PROCESS_UP}


def test_a_warm_up_takes_all_steps_up_to_the_one_that_is_told() -> None:
    sight = Sight(there(), look=Warming(Milestone.CANARY_RIGHT))
    looked = advanced(UP, sight, WATCH)
    assert looked.reached[Milestone.HEALTHY] == looked.reached[Milestone.CANARY_RIGHT] == NOW
    assert not looked.has(Milestone.PREFIXES_WARM)
    warm = advanced(looked, Sight(there(), look=Warm(REPORT)), WATCH)
    assert (warm.has(Milestone.PREFIXES_WARM), warm.report, warm.failure) == (True, REPORT, "")


def test_the_last_step_is_taken_with_its_report() -> None:
    looked = advanced(UP, Sight(there(), look=Warming(Milestone.PREFIXES_WARM)), WATCH)
    assert (looked.has(Milestone.CANARY_RIGHT), looked.was_warm) == (True, False)


def test_one_that_does_not_answer_yet_takes_no_step() -> None:
    assert not advanced(UP, Sight(there(), look=Warming()), WATCH).has(Milestone.HEALTHY)


@pytest.mark.parametrize(
    ("record", "sight", "why"),
    [
        (UP, Sight(None), "it is gone"),
        (UP, Sight(there(HostPhase.EXITED, "code 1: no GPU")), "code 1: no GPU"),
        (UP, Sight(there(HostPhase.EXITED)), "it ended by itself"),
        (SERVING, Sight(there(HostPhase.STOPPING)), "its host is taking it away"),
        (UP, Sight(there(), look=Unfit("another model")), "another model"),
        (SERVING, Sight(there(), is_mute=True), "it generates nothing any more"),
    ],
)
def test_why_one_is_given_up(record: ReplicaRecord, sight: Sight, why: str) -> None:
    failed = advanced(record, sight, WATCH)
    assert failed.failure == why
    assert state_of(failed, sight) is ReplicaState.FAILED
    assert advanced(failed, Sight(there()), WATCH) is failed


def test_what_records_alone_tell_leaves_out_what_goes() -> None:
    going = [SERVING.at(Milestone.DRAINING, NOW), SERVING.at(Milestone.STOPPING, NOW), replace(UP, failure="code 1")]
    assert guessed([ORDER, SERVING, *going]) == [ReplicaState.STARTING, ReplicaState.READY]


def test_a_host_may_be_wrong_once() -> None:
    assert advanced(SERVING, Sight(None, is_gone=False), WATCH) == SERVING
    assert advanced(SERVING, Sight(None, is_gone=True), WATCH).failure == "it is gone"


def test_one_that_is_being_stopped_is_left_alone() -> None:
    stopping = SERVING.at(Milestone.STOPPING, NOW)
    assert advanced(stopping, Sight(None), WATCH) is stopping


def test_a_name_that_its_host_gave_is_gone_for_good_and_an_order_is_not() -> None:
    assert advanced(LISTED, Sight(None), WATCH).failure == ""
    names = Watch(names_replicas=True, since=0.0, now=NOW)
    assert advanced(LISTED, Sight(None), names).failure == "it is gone"
    assert advanced(ORDER, Sight(None), names).failure == ""


# ------------------------------------------------------------------ states


@pytest.mark.parametrize(
    ("record", "sight", "state", "entered"),
    [
        (ORDER, Sight(None), ReplicaState.WANTED, NOW - 30.0),
        (LISTED, Sight(there()), ReplicaState.STARTING, NOW - 20.0),
        (UP, Sight(there()), ReplicaState.STARTING, NOW - 10.0),
        (HEALTHY, Sight(there()), ReplicaState.WARMING, NOW - 5.0),
        (SERVING, Sight(there(), is_known=True), ReplicaState.READY, NOW - 1.0),
        (SERVING, Sight(there(), is_known=None), ReplicaState.READY, NOW - 1.0),
        (UP, Sight(there(), is_known=True), ReplicaState.READY, NOW - 30.0),
        (SERVING.at(Milestone.DRAINING, NOW), Sight(there()), ReplicaState.DRAINING, NOW),
    ],
)
def test_the_state_follows_from_the_steps(
    record: ReplicaRecord, sight: Sight, state: ReplicaState, entered: float
) -> None:
    assert (state_of(record, sight), since(record, sight, WATCH)) == (state, entered)


def test_a_drain_of_an_operator_is_one_that_only_he_takes_back() -> None:
    ours = seen(SERVING.at(Milestone.DRAINING, NOW), Sight(there(), drain=drain(may_stop=False)), WATCH)
    his = seen(SERVING, Sight(there(), drain=drain(may_stop=True), sessions=3), WATCH)
    assert (ours.state, ours.may_return, ours.may_stop) == (ReplicaState.DRAINING, True, False)
    assert (his.state, his.may_return, his.may_stop, his.sessions) == (ReplicaState.DRAINING, False, True, 3)


# ------------------------------------------------------------------ deadlines


def test_one_that_stays_too_long_in_a_state_is_given_up() -> None:
    limit = DEADLINES[ReplicaState.STARTING]
    late = ordered(ReplicaId("a"), PoolName("qwen"), now=0.0).at(Milestone.SCHEDULED, NOW - limit.seconds - 1.0)
    pending = Sight(there(HostPhase.PENDING))
    assert advanced(late, pending, WATCH).failure == limit.reason


def test_weights_take_as_long_as_they_take() -> None:
    fetching = Sight(there(HostPhase.FETCHING))
    old = ordered(ReplicaId("a"), PoolName("qwen"), now=0.0).at(Milestone.SCHEDULED, 1_000.0)
    assert advanced(old, fetching, WATCH).failure == ""


def test_one_that_is_warm_waits_for_the_routers_for_as_long_as_they_are_away() -> None:
    warm = UP.at(Milestone.HEALTHY, 1_000.0).at(Milestone.PREFIXES_WARM, 1_010.0)
    assert advanced(warm, Sight(there(), is_known=None), WATCH).failure == ""


def test_a_deadline_that_ran_off_while_nobody_looked_is_none() -> None:
    limit = DEADLINES[ReplicaState.WARMING].seconds
    old = UP.at(Milestone.HEALTHY, NOW - 9_000.0)
    sight = Sight(there(), look=Warming(Milestone.HEALTHY))
    just_come = Watch(names_replicas=False, since=NOW, now=NOW)
    assert advanced(old, sight, just_come).failure == ""
    long_here = Watch(names_replicas=False, since=NOW - limit * (1 - UNWATCHED_SHARE) - 1.0, now=NOW)
    assert advanced(old, sight, long_here).failure
