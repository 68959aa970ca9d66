"""What was seen of the servers, asked by time."""

import pytest

from loadtests.domain.looks import all_up_from, busy_spans, by_process, by_replica, cpu_share, had_waiting, up_at
from loadtests.domain.server import ProcessSample, ReplicaSample


def look(at_s: float, replica: str = "one", *, up: bool = True, waiting: int | None = 0) -> ReplicaSample:
    return ReplicaSample(at_s=at_s, replica=replica, up=up, waiting=waiting)


def used(at_s: float, cpu_s: float, name: str = "gateway") -> ProcessSample:
    return ProcessSample(at_s=at_s, name=name, cpu_s=cpu_s, memory_mb=50)


def test_looks_are_sorted_by_who_and_when() -> None:
    looks = by_replica([look(2), look(1, "two"), look(1)])
    assert {name: [each.at_s for each in seen] for name, seen in looks.items()} == {"two": [1], "one": [1, 2]}
    processes = by_process([used(2, 1), used(1, 0), used(3, 0, "redis")])
    assert {name: [each.at_s for each in seen] for name, seen in processes.items()} == {"gateway": [1, 2], "redis": [3]}


def test_who_was_up_is_what_the_last_look_before_said() -> None:
    looks = by_replica([look(0), look(5, up=False), look(3, "two")])
    assert up_at(looks, -1) == set()
    assert up_at(looks, 0) == {"one"}
    assert up_at(looks, 4) == {"one", "two"}
    assert up_at(looks, 5) == {"two"}


def test_all_are_up_when_the_last_has_come_and_one_that_never_did_is_not_waited_for() -> None:
    assert all_up_from(by_replica([look(0), look(4, "two", up=False), look(9, "two"), look(1, "three", up=False)])) == 9
    assert all_up_from(by_replica([look(0, up=False)])) is None
    assert all_up_from({}) is None


def test_a_turn_waited_when_its_own_replica_had_a_queue_around_that_time() -> None:
    looks = by_replica([look(0), look(10, waiting=3), look(20), look(30, waiting=None), look(0, "two")])
    assert had_waiting(looks, "one", 5, 6)
    assert had_waiting(looks, "one", 10, 15)
    assert not had_waiting(looks, "one", 21, 22)
    assert not had_waiting(looks, "two", 5, 6)
    assert not had_waiting(looks, "unknown", 5, 6)
    assert had_waiting(looks, None, 5, 6)


def test_a_process_is_busy_where_it_used_most_of_a_core_in_real_time() -> None:
    samples = [used(0, 0), used(10, 4.8), used(20, 5), used(20, 5), used(30, 4.9)]
    assert busy_spans(samples, speed_up=2, from_share=0.9) == [(0, 10), (20, 30)]
    assert cpu_share(samples[0], samples[1], speed_up=2) == pytest.approx(0.96)
