"""What follows from one look at a pool, and what the same look brings the second time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.domain.drain import DrainProgress
from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import HostedReplica, HostPhase
from router.fleet.domain.matching import Change, matched
from router.fleet.domain.past_starts import PastStart
from router.fleet.domain.reconcile import Mend, Reconciled, failed_start, mend_of, reconcile
from router.fleet.domain.replica_record import Milestone, ReplicaRecord, WarmReport, ordered
from router.fleet.domain.sight import Sight, Watch
from router.fleet.domain.warmth import Unfit, Warm, Warming

NOW = 10_000.0
POOL = PoolName("qwen")
ORDER = ordered(ReplicaId("a"), POOL, now=NOW - 30.0)
UP = ORDER.at(Milestone.SCHEDULED, NOW - 20.0).at(Milestone.PROCESS_UP, NOW - 10.0)
WARM = UP.at(Milestone.HEALTHY, NOW - 5.0).at(Milestone.PREFIXES_WARM, NOW - 2.0)
SERVING = WARM.at(Milestone.JOINED, NOW - 1.0)
DRAINING = SERVING.at(Milestone.DRAINING, NOW)
STOPPING = DRAINING.at(Milestone.STOPPING, NOW)
HERE = HostedReplica(ReplicaId("a"), HostPhase.RUNNING, NOW - 20.0, url="http://a:1")
GOING = HostedReplica(ReplicaId("a"), HostPhase.STOPPING, NOW - 20.0)
BOARD = DrainProgress(ReplicaId("a"), (), (), 0, 0, 1.0, may_stop=True)


@pytest.mark.parametrize(
    ("record", "sight", "mend"),
    [
        (ORDER, Sight(None), Mend.START),
        (ORDER, Sight(None, is_known=None), Mend.START),
        (UP, Sight(HERE), None),
        (UP, Sight(None, is_gone=False), None),
        (SERVING, Sight(None, is_gone=False, is_known=None), None),
        (UP, Sight(HERE, is_known=True), Mend.JOIN),
        (WARM, Sight(HERE), Mend.JOIN),
        (WARM, Sight(HERE, is_known=None), None),
        (SERVING, Sight(HERE, is_known=True), None),
        (SERVING, Sight(HERE, is_known=False), Mend.JOIN),
        (DRAINING, Sight(HERE, is_known=True), Mend.DRAIN),
        (DRAINING, Sight(HERE, is_known=True, drain=BOARD), None),
        (STOPPING, Sight(HERE), Mend.STOP),
        (STOPPING, Sight(GOING), None),
        (STOPPING, Sight(GOING, is_known=True), Mend.STOP),
        (STOPPING, Sight(None, is_known=True), Mend.STOP),
        (STOPPING, Sight(None, is_known=None), Mend.STOP),
        (STOPPING, Sight(None, is_known=False), Mend.FORGET),
        (UP.at(Milestone.STOPPING, NOW), Sight(None, is_known=None), Mend.FORGET),
    ],
)
def test_what_has_not_come_about_is_ordered_again(record: ReplicaRecord, sight: Sight, mend: Mend | None) -> None:
    assert mend_of(record, sight) is mend


def test_one_that_failed_is_for_the_decision() -> None:
    (failed,) = look([UP], []).records.values()
    assert failed.failure == "it is gone"
    assert mend_of(failed, Sight(None)) is None


def test_a_failed_start_is_told_once_it_is_over() -> None:
    failed = look([UP], []).records[UP.id]
    assert failed_start(failed, now=NOW) == PastStart(UP.ordered, NOW, went_warm=False)
    stopped = failed.at(Milestone.STOPPING, NOW + 5.0)
    assert failed_start(stopped, now=NOW + 60.0) == PastStart(UP.ordered, NOW + 5.0, went_warm=False)


def test_only_what_was_started_by_an_order_and_never_served_is_a_failed_start() -> None:
    assert failed_start(UP, now=NOW) is None
    never_begun = ReplicaRecord(ORDER.id, POOL, ORDER.reached, failure="no host took it")
    assert failed_start(never_begun, now=NOW) is None
    assert failed_start(look([SERVING], []).records[UP.id], now=NOW) is None
    (taken_in,) = look([], [HostedReplica(ReplicaId("b"), HostPhase.EXITED, NOW, detail="code 1")]).records.values()
    assert taken_in.failure == "code 1"
    assert failed_start(taken_in, now=NOW) is None


def test_what_changed_is_kept_with_the_name_that_its_host_gave() -> None:
    pod = HostedReplica(ReplicaId("pod-1"), HostPhase.RUNNING, NOW, url="http://pod-1:1")
    whole = look([ORDER], [pod], names=True)
    (change,) = whole.changes
    assert (change.record.id, change.instead_of, change.record.url) == ("pod-1", "a", "http://pod-1:1")
    assert change.record.has(Milestone.PROCESS_UP)


def test_one_that_is_being_stopped_is_not_seen_any_more() -> None:
    whole = look([STOPPING], [HERE])
    assert (whole.seen, whole.mends, whole.changes) == ((), (("a", Mend.STOP),), ())


PHASES = st.sampled_from(HostPhase)
STEPS = st.lists(st.sampled_from(Milestone), unique=True)
LOOKS = st.sampled_from(
    [
        None,
        Warming(),
        Warming(Milestone.HEALTHY),
        Warm(WarmReport("digest", 1.0, 1.0, 0, took_s=1.0)),
        Unfit("another model"),
    ]
)


@st.composite
def records(draw: st.DrawFn) -> list[ReplicaRecord]:
    made = []
    for name in draw(st.lists(st.sampled_from("abcdef"), unique=True)):
        record = ordered(ReplicaId(name), POOL, now=draw(st.floats(0.0, NOW)))
        for step in draw(STEPS):
            record = record.at(step, draw(st.floats(0.0, NOW)))
        made.append(record)
    return made


@st.composite
def replicas(draw: st.DrawFn) -> list[HostedReplica]:
    names = draw(st.lists(st.sampled_from("abcdefgh"), unique=True))
    return [HostedReplica(ReplicaId(n), draw(PHASES), draw(st.floats(0.0, NOW)), url=f"http://{n}:1") for n in names]


@given(kept=records(), hosted=replicas(), names=st.booleans(), look_=LOOKS, known=st.sampled_from([True, False, None]))
def test_asking_again_changes_nothing_and_no_record_is_lost(
    kept: list[ReplicaRecord],
    hosted: list[HostedReplica],
    names: bool,
    look_: Warming | Warm | Unfit | None,
    known: bool | None,
) -> None:
    here = {replica.id: replica for replica in hosted}

    def again(now: list[ReplicaRecord]) -> Reconciled:
        found = matched({r.id: r for r in now}, hosted, pool=POOL, names_replicas=names, now=NOW)
        sights = {r: Sight(here.get(r), is_known=known, look=look_ if r in here else None) for r in found.records}
        return reconcile(found, sights, Watch(names_replicas=names, since=0.0, now=NOW))

    first = again(kept)
    lost = {record.id for record in kept} - first.records.keys()
    assert lost == {change.instead_of for change in first.changes} - {None}
    assert {change.record.id for change in first.changes if change.instead_of is None} >= (
        first.records.keys() - {record.id for record in kept} - {c.record.id for c in first.changes if c.instead_of}
    )
    second = again(list(first.records.values()))
    assert (second.changes, second.records) == ((), first.records)
    assert (second.seen, second.mends, second.failed) == (first.seen, first.mends, first.failed)


def look(kept: list[ReplicaRecord], hosted: list[HostedReplica], *, names: bool = False) -> Reconciled:
    here = {replica.id: replica for replica in hosted}
    found = matched({r.id: r for r in kept}, hosted, pool=POOL, names_replicas=names, now=NOW)
    sights = {replica: Sight(here.get(replica)) for replica in found.records}
    return reconcile(found, sights, Watch(names_replicas=names, since=0.0, now=NOW))


def test_a_change_is_the_record_as_it_is_in_the_end() -> None:
    whole = look([ORDER], [HERE])
    assert whole.changes == (Change(whole.records[ORDER.id]),)
