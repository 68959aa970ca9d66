"""Which targets are met, and what is said of those that cannot be judged."""

from collections import Counter
from dataclasses import replace

from loadtests.overhead.figures import Figures
from loadtests.overhead.load import SILENCE
from loadtests.overhead.peers import Peer
from loadtests.overhead.verdict import (
    CHUNKS,
    MANY,
    ONE,
    STREAMS_500,
    TURN_ONE,
    TURN_STREAMS_500,
    judge,
    judge_gateway,
    ratio,
)

BASE = Figures(1_000, 1.0, 3.0, 0, 0, 100.0, 1.0, 80)
GOOD = {
    (Peer.DIRECT, STREAMS_500): replace(BASE, wait_p99=1.0),
    (Peer.VLLM, MANY): BASE,
    (Peer.SGLANG, MANY): replace(BASE, cpu_us=120.0),
    (Peer.VLLM, CHUNKS): replace(BASE, cpu_us=9.0),
    (Peer.SGLANG, CHUNKS): replace(BASE, cpu_us=6.0),
    (Peer.VLLM, ONE): BASE,
    (Peer.MEMORY, ONE): replace(BASE, wait_p50=0.9),
    (Peer.MEMORY, MANY): replace(BASE, cpu_us=80.0),
    (Peer.MEMORY, CHUNKS): replace(BASE, cpu_us=4.0),
    (Peer.MEMORY, STREAMS_500): replace(BASE, wait_p99=5.9),
}


def met(table: dict[tuple[Peer, str], Figures]) -> list[bool | None]:
    return [each.is_met for each in judge(table, Peer.MEMORY)]


def test_all_can_be_met() -> None:
    assert met(GOOD) == [True] * 6


def test_a_ratio_is_to_the_better_rival_of_that_course() -> None:
    assert ratio(GOOD, Peer.MEMORY, MANY) == 1.25
    assert ratio(GOOD, Peer.MEMORY, CHUNKS) == 1.5
    assert ratio(GOOD, Peer.REDIS, MANY) is None


def test_each_can_be_missed() -> None:
    worse = {
        (Peer.MEMORY, MANY): replace(BASE, cpu_us=90.0),
        (Peer.MEMORY, CHUNKS): replace(BASE, cpu_us=4.1),
        (Peer.MEMORY, ONE): BASE,
        (Peer.MEMORY, STREAMS_500): replace(BASE, wait_p99=6.0, memory_mb=120),
        (Peer.VLLM, ONE): replace(BASE, faults=Counter({"wrong": 1})),
    }
    assert met(GOOD | worse) == [False] * 6


def test_what_was_not_measured_is_not_judged() -> None:
    assert met({(Peer.MEMORY, MANY): BASE}) == [None, None, None, None, True, True]
    assert met({})[4] is None


def test_that_others_cannot_keep_up_is_no_fault_of_the_run() -> None:
    silent = replace(BASE, faults=Counter({SILENCE: 7}))
    assert met(GOOD | {(Peer.LITELLM, STREAMS_500): silent})[-1] is True
    assert met(GOOD | {(Peer.MEMORY, CHUNKS): silent})[-1] is False


def test_a_whole_turn_is_held_against_the_engine_asked_the_same_way() -> None:
    table = {
        (Peer.DIRECT, TURN_ONE): replace(BASE, wait_p50=0.5, wait_p99=1.0),
        (Peer.GATEWAY, TURN_ONE): replace(BASE, wait_p50=4.5, wait_p99=11.0),
        (Peer.GATEWAY, TURN_STREAMS_500): replace(BASE, lateness_p99=9.9),
    }
    assert [each.is_met for each in judge_gateway(table)] == [True] * 4
    slow = {
        (Peer.GATEWAY, TURN_ONE): replace(BASE, wait_p50=4.6, wait_p99=11.1),
        (Peer.GATEWAY, TURN_STREAMS_500): replace(BASE, lateness_p99=10.0, faults=Counter({SILENCE: 1})),
    }
    assert [each.is_met for each in judge_gateway(table | slow)] == [False] * 4
    assert [each.is_met for each in judge_gateway({})] == [None, None, None, True]
