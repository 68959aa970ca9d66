"""What looks at replicas and processes add up to."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.fleet_use import fleet_use, process_use
from loadtests.domain.server import ProcessSample, ReplicaSample


def look(at_s: float, replica: str = "replica-1", *, up: bool = True, **seen: Any) -> ReplicaSample:
    return ReplicaSample(at_s=at_s, replica=replica, up=up, **seen)


def test_of_nobody_nothing_is_known() -> None:
    use = fleet_use([])
    assert (use.replica_seconds, use.preemptions(), use.kv_usage_most()) == (None, None, None)
    assert process_use([]) == ({}, {})


def test_replicas_that_say_nothing_are_only_there() -> None:
    use = fleet_use([look(0.0), look(10.0)])
    assert (use.replica_seconds, use.preemptions(), use.kv_usage_most()) == (10.0, None, None)


def test_what_was_counted_before_the_first_look_is_not_of_this_run() -> None:
    assert fleet_use([look(0.0, preemptions=7), look(1.0, preemptions=9)]).preemptions() == 2


def test_a_counter_that_falls_has_begun_anew() -> None:
    looks = [look(0.0, preemptions=5), look(1.0, preemptions=8), look(2.0, preemptions=2), look(3.0, preemptions=4)]
    assert fleet_use(looks).preemptions() == 3 + 2 + 2


def test_a_look_that_failed_is_no_zero() -> None:
    looks = [look(0.0, preemptions=5), look(1.0, up=False), look(2.0, preemptions=6)]
    assert fleet_use(looks).preemptions() == 1


def test_each_increase_belongs_to_the_time_of_its_look() -> None:
    use = fleet_use(
        [look(0.0, preemptions=0, kv_usage=0.2), look(1.0, preemptions=3, kv_usage=0.9), look(2.0, preemptions=4)]
    )
    assert use.preemptions(from_s=0.5, to_s=1.5) == 3
    assert use.preemptions(from_s=1.5) == 1
    assert use.kv_usage_most(to_s=1.0) == 0.2
    assert use.kv_usage_most(from_s=5.0) is None


def test_a_replica_counts_from_its_first_look_to_its_last() -> None:
    looks = [
        look(0.0),
        look(60.0),
        look(20.0, "late"),
        look(60.0, "late"),
        look(0.0, "lost", up=False),
        look(60.0, "lost", up=False),
    ]
    assert fleet_use(looks).replica_seconds == 60 + 40


def test_one_that_is_down_for_a_while_is_still_there() -> None:
    assert fleet_use([look(0.0), look(20.0, up=False), look(60.0)]).replica_seconds == 60


def test_a_part_of_the_fleet_tells_of_itself() -> None:
    use = fleet_use(
        [
            look(0.0, preemptions=0),
            look(9.0, preemptions=4),
            look(0.0, "two", preemptions=0),
            look(9.0, "two", preemptions=1),
        ]
    )
    assert use.preemptions() == 5
    assert use.of("two").preemptions() == 1
    assert use.of("three").preemptions() is None


@given(st.permutations([look(float(n), f"replica-{n % 2}", preemptions=n * n, kv_usage=n / 10) for n in range(6)]))
def test_the_order_of_looks_does_not_matter(looks: list[ReplicaSample]) -> None:
    use = fleet_use(looks)
    assert (use.preemptions(), use.kv_usage_most(), use.replica_seconds) == (16 + 24, 0.5, 8.0)


def test_a_process_that_was_started_again_goes_on_counting() -> None:
    told = [(0.0, 10.0, 200.0), (1.0, 12.0, 260.0), (2.0, 0.5, 100.0), (3.0, 1.5, 120.0)]
    looks = [ProcessSample(at_s=at_s, name="gateway", cpu_s=cpu_s, memory_mb=memory) for at_s, cpu_s, memory in told]
    other = ProcessSample(at_s=0.0, name="redis", cpu_s=3.0, memory_mb=9.0)
    assert process_use([*looks, other]) == ({"gateway": 2 + 0.5 + 1, "redis": 0.0}, {"gateway": 260.0, "redis": 9.0})
