"""The table, the verdict and the JSON say what was measured."""

import json
from collections import Counter
from dataclasses import replace

from loadtests.overhead.figures import Figures
from loadtests.overhead.peers import Peer
from loadtests.overhead.report import as_caution, as_json, as_ratios, as_table, as_turns, as_verdict
from loadtests.overhead.verdict import CHUNKS, MANY, STREAMS_500, TURN_ONE, TURNS, judge

BASE = Figures(12_345.6, 1.0, 3.0, 0.2, 0.5, 50.0, 0.61, 80)
TABLE = {
    (Peer.MEMORY, MANY): BASE,
    (Peer.MEMORY, STREAMS_500): replace(BASE, memory_mb=90),
    (Peer.VLLM, MANY): replace(BASE, cpu_us=100.0),
    (Peer.VLLM, CHUNKS): replace(BASE, faults=Counter({"HTTP/1.1 503": 1})),
}


def test_the_table_has_a_row_each_and_voids_what_had_faults() -> None:
    head, line, own, rival = as_table(TABLE, [Peer.MEMORY, Peer.VLLM]).splitlines()
    assert {row.count("|") for row in (head, line, own, rival)} == {8}
    assert own.startswith("| drillyard | - | 12,346, 20,000 | - | - | 1.00 / 3.00, 0.50 ms, 61 % | 90 MB |")
    assert rival.count("VOID") == 1


def test_whole_turns_have_a_table_of_their_own_with_what_was_added() -> None:
    table = TABLE | {
        (Peer.DIRECT, TURN_ONE): BASE,
        (Peer.GATEWAY, TURN_ONE): replace(BASE, wait_p50=5.5, wait_p99=9.0),
        (Peer.GATEWAY, TURNS): replace(BASE, answers=150.0, answer_cpu_us=5_000.0),
    }
    head, line, direct, own = as_turns(table, list(Peer)).splitlines()
    assert {row.count("|") for row in (head, line, direct, own)} == {8}
    assert direct.startswith("| direct | 1.00 / 3.00 ms | - |")
    assert own.startswith("| drillyard-gateway | 5.50 / 9.00 ms, +4.50 / +6.00 ms | 150, 200 | - |")
    assert "drillyard-gateway" not in as_table(table, list(Peer))
    assert as_turns(TABLE, list(Peer)) == ""


def test_ratios_are_told_for_our_own_alone() -> None:
    assert as_ratios(TABLE) == "drillyard against the better rival, per core: 2.00 x requests/s, - chunks/s"


def test_the_verdict_says_what_is_missed() -> None:
    lines = as_verdict(judge(TABLE, Peer.MEMORY)).splitlines()
    assert [line.split(" drillyard")[0].strip() for line in lines] == [
        *("met", "not judged", "not judged", "not judged", "met", "MISSED"),
    ]
    assert lines[-1].endswith("1 wrong")


def test_the_json_can_be_read_again() -> None:
    found = json.loads(as_json(TABLE, judge(TABLE, Peer.MEMORY), {"rounds": "3"}))
    assert {each["target"] for each in found["figures"]} == {"drillyard", "vllm-router"}
    assert (len(found["targets"]), found["made_with"]) == (6, {"rounds": "3"})


def test_a_busy_machine_is_told_of() -> None:
    assert as_caution(TABLE) == ""
    assert "25 %" in as_caution(TABLE | {(Peer.DIRECT, MANY): replace(BASE, starved_share=0.25)})
