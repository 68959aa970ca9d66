"""Reasons in the servers."""

from collections.abc import Sequence
from dataclasses import replace

from loadtests.domain.drill import Drill
from loadtests.domain.figures import Figures, Spread
from loadtests.domain.limits import Limits
from loadtests.domain.reason import Cause, Seen
from loadtests.domain.rows import Row
from loadtests.domain.server import Event, EventKind, ProcessSample, ReplicaSample
from loadtests.domain.server_causes import (
    caches_lost,
    faults_felt,
    gateway_busy,
    machine_busy,
    memory_full,
    one_replica_worse,
    queued,
    replicas_short,
    written_slowly,
)
from tests.unit.loadtests.domain.test_reason import ROW

LATE = replace(ROW, first_s=4, last_s=5, ended_s=5)


def look(at_s: float, replica: str = "one", *, up: bool = True, waiting: int = 0) -> ReplicaSample:
    return ReplicaSample(at_s=at_s, replica=replica, up=up, waiting=waiting, running=7)


def at(row: Row, second: float, replica: str | None = None) -> Row:
    shift = second - row.started_s
    first, last = (row.first_s or 0) + shift, (row.last_s or 0) + shift
    return replace(row, started_s=second, first_s=first, last_s=last, ended_s=row.ended_s + shift, replica=replica)


def seen(rows: Sequence[Row], **more: object) -> Seen:
    figures = Figures(turns=len(rows), warm_turns=len(rows))
    return replace(Seen(drill=Drill(), figures=figures, rows=rows), **more)  # type: ignore[arg-type]  # fields by name


def test_nothing_is_found_where_nothing_is() -> None:
    fine = seen([at(ROW, second, "one") for second in range(50)], replicas=[look(-1), look(9)])
    for cause in (
        replicas_short,
        faults_felt,
        caches_lost,
        one_replica_worse,
        queued,
        memory_full,
        gateway_busy,
        machine_busy,
        written_slowly,
    ):
        assert not list(cause(fine))


def test_replicas_that_came_after_the_bell_are_counted_with_whoever_suffered() -> None:
    looks = [look(-1), look(-1, "two", up=False), look(60, "two"), look(90, "three"), look(5, "never", up=False)]
    refused = replace(at(LATE, 3), failure="http_503", note="no_replica")
    waited = replace(at(ROW, 4), note="no_room session_busy")
    rows = [at(ROW, 1), at(LATE, 2), refused, waited, at(LATE, 95)]
    (reason,) = replicas_short(seen(rows, replicas=looks))
    assert reason.cause is Cause.REPLICAS_SHORT
    assert reason.says == "Only 1 of 3 replicas were up at the bell; the last came 90 s after it."
    assert reason.evidence == (
        "2 turns were late or failed before all were up",
        "1 turns failed, 1 were refused at first",
        "1 times no_replica",
        "1 times session_busy",
    )
    assert reason.share == 3 / 5


def test_replicas_short_but_nobody_late_is_no_reason() -> None:
    assert not list(replicas_short(seen([ROW], replicas=[look(-1), look(60, "two")])))


def test_replicas_without_room_are_too_few_even_when_all_are_up() -> None:
    refused = replace(ROW, failure="no_room", first_s=None)
    (reason,) = replicas_short(seen([ROW, refused], replicas=[look(-1)]))
    assert reason.says == "No replica had room for all who asked."
    assert reason.evidence == ("1 turns failed, 0 were refused at first", "1 times no_room")
    (unseen,) = replicas_short(seen([ROW, refused]))
    assert unseen.says == reason.says


def test_refusals_while_something_is_broken_are_put_down_to_the_fault() -> None:
    refused = replace(at(ROW, 11), failure="no_replica")
    events = [Event(at_s=10, kind=EventKind.FAULT, target="one", note="kill")]
    broken = seen([ROW, refused], events=events)
    assert not list(replicas_short(broken))
    (reason,) = faults_felt(broken)
    assert reason.says == "The fault caused at 10 s (kill of one) was felt: it did not answer again."
    assert reason.evidence == ("1 turns failed meanwhile, 0 were late",)
    assert reason.share == 0.5


def test_a_fault_that_is_no_worse_than_the_rest_is_not_blamed() -> None:
    events = [Event(at_s=10, kind=EventKind.FAULT, note="freeze"), Event(at_s=14, kind=EventKind.MENDED)]
    everywhere = [at(LATE, second) for second in range(0, 60, 2)]
    assert not list(faults_felt(seen(everywhere, events=events)))
    only_inside = [at(LATE if 10 <= second <= 20 else ROW, second) for second in range(0, 60, 2)]
    (reason,) = faults_felt(seen(only_inside, events=events))
    assert reason.says == "The fault caused at 10 s (freeze) was felt: it answered again after 4 s."
    assert reason.evidence == ("0 turns failed meanwhile, 6 were late",)


def test_a_fault_that_nobody_felt_is_no_reason() -> None:
    events = [Event(at_s=10, kind=EventKind.FAULT, note="kill")]
    assert not list(faults_felt(seen([ROW, at(ROW, 12)], events=events)))
    (reason,) = faults_felt(seen([at(LATE, 12)], events=events))
    assert reason.share == 1


def test_caches_that_were_lost_are_told_though_nobody_was_late() -> None:
    calm = seen([ROW] * 100)
    assert not list(caches_lost(replace(calm, figures=replace(calm.figures, cold={"lost": 5}))))
    (reason,) = caches_lost(replace(calm, figures=replace(calm.figures, cold={"lost": 6})))
    assert reason.cause is Cause.FAULT
    assert reason.evidence == ("6 of 100 later turns cold for this reason",)


def test_one_replica_that_is_much_worse_than_the_others_is_named() -> None:
    rows = [at(LATE if second < 8 else ROW, second, "bad") for second in range(40)]
    rows += [at(LATE if second < 2 else ROW, second, "good") for second in range(60)]
    (reason,) = one_replica_worse(seen(rows))
    assert reason.says == "bad is unlike the others: 20% of its turns failed or were late."
    assert reason.evidence == ("8 of 40 turns at bad, 3% elsewhere",)
    assert reason.share == 0.08


def test_a_single_replica_is_unlike_nothing() -> None:
    assert not list(one_replica_worse(seen([at(LATE, second, "only") for second in range(9)])))


def test_late_turns_whose_replica_had_a_queue_are_counted() -> None:
    looks = [look(0, waiting=4), look(10), look(0, "two"), look(10, "two")]
    rows = [at(LATE, 1, "one"), at(LATE, 1, "two"), at(LATE, 20, "one"), replace(at(LATE, 1, "one"), failure="no_end")]
    rows.append(replace(rows[0], first_s=None))
    (reason,) = queued(seen(rows, replicas=looks))
    assert reason.says == "2 late turns queued at a replica that was busy with others."
    assert reason.evidence == ("up to 4 waiting and 7 running at once at one replica",)
    full = seen(rows, replicas=[*looks, ReplicaSample(at_s=0, replica="three", up=False)])
    (with_memory,) = queued(replace(full, figures=replace(full.figures, kv_usage_most=0.99)))
    assert with_memory.evidence[1] == "KV memory 99% full at most"


def test_memory_is_full_when_requests_are_put_back_or_caches_let_go() -> None:
    calm = seen([ROW] * 100)
    assert not list(memory_full(replace(calm, figures=replace(calm.figures, cold={"evicted": 5}))))
    (evicted,) = memory_full(replace(calm, figures=replace(calm.figures, cold={"evicted": 6})))
    assert evicted.evidence == ("0 preemptions, 6 turns computed anew because the cache had let go of them",)
    figures = replace(calm.figures, preemptions=3, kv_usage_most=1.0)
    (preempted,) = memory_full(replace(calm, figures=figures))
    assert preempted.evidence[1] == "KV memory 100% full at most"
    assert preempted.share == 0.03


def test_a_gateway_that_used_up_its_core_is_named_for_what_was_late_meanwhile() -> None:
    def used(at_s: float, cpu_s: float, name: str) -> ProcessSample:
        return ProcessSample(at_s=at_s, name=name, cpu_s=cpu_s, memory_mb=9)

    busy = [used(0, 0, "gateway"), used(10, 9.5, "gateway"), used(20, 9.6, "gateway")]
    others = [used(0, 0, "redis"), used(20, 20, "redis")]
    rows = [at(LATE, 5), at(LATE, 15), at(ROW, 5)]
    (reason,) = gateway_busy(seen(rows, processes=[*busy, *others]))
    assert reason.says == "1 turns were late or failed while a gateway process used up its core."
    assert reason.evidence == ("10 s at 90% of a core or more",)
    assert not list(gateway_busy(seen(rows, processes=others)))


def test_replies_that_began_in_time_and_took_long_are_slow_writing() -> None:
    long = replace(ROW, last_s=20, ended_s=20, completion_tokens=300)
    rows = [long, LATE, replace(long, failure="no_end"), replace(long, first_s=None)]
    calm = seen(rows)
    (reason,) = written_slowly(replace(calm, figures=replace(calm.figures, tpot=Spread(count=2, p95=0.065))))
    assert reason.says == "1 replies began in time and took too long to write."
    assert reason.evidence == ("time per token p95 65 ms", "up to 300 tokens in one of them")
    (without,) = written_slowly(seen(rows, limits=Limits(ttft_s=None)))
    assert without.evidence == ("up to 300 tokens in one of them",)


def test_a_crowded_machine_is_named_for_what_was_late_when_the_servers_run_on_it() -> None:
    looks = [ProcessSample(at_s=0, name="redis", cpu_s=0, memory_mb=9)]
    crowded = seen([ROW, LATE], processes=looks, load_average=10.0, cpus=2)
    (reason,) = machine_busy(crowded)
    assert reason.evidence == ("load average 10.0 on 2 processors",)
    assert reason.share == 0.5
    for calm in (
        replace(crowded, load_average=3.0),
        replace(crowded, load_average=None),
        replace(crowded, cpus=None),
        replace(crowded, processes=()),
        replace(crowded, rows=[ROW]),
    ):
        assert not list(machine_busy(calm))
