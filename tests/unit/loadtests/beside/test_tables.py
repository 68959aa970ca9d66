"""What the tables say, and what they leave out."""

from math import inf

from loadtests.beside.arms import Arm
from loadtests.beside.result import Result
from loadtests.beside.tables import tables
from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.overhead.peers import Peer


def turn(number: int, p50: float | None) -> Slice:
    spread = Spread(count=4, p50=p50)
    return Slice(key=number, turns=4, failed=0, ttft=spread, e2e=Spread(), tpot=Spread())


FIGURES = Figures(
    turns=48, ttft=Spread(count=48, p50=0.25, p95=0.9), by_turn=tuple(turn(n, 0.1 * n) for n in range(1, 13))
)
STEADY = Result(
    arm=Arm(peer=Peer.GATEWAY), figures=FIGURES, prompts=40_000, computed=4_000, by_replica={"a": 30_000, "b": 10_000}
)
KILLED = Result(
    arm=Arm(peer=Peer.VLLM, is_killed=True),
    figures=Figures(turns=48, failed=5, failures={"lost": 3, "http_502": 2}, ttft=Spread(count=48, p50=0.3, p95=inf)),
)


def test_a_quiet_class_shows_the_turns_before_and_after_a_window_slides() -> None:
    head, line, row = tables([STEADY], turns=12).splitlines()
    assert {each.count("|") for each in (head, line, row)} == {head.count("|")}
    assert "turn 1 | turn 2 | turn 11 | turn 12 |" in head
    assert row == (
        "| drillyard, sessions | 0.10 s | 0.20 s | 1.10 s | 1.20 s | 0.25 s / 0.90 s "
        "| 40,000 (75 : 25) | 4,000 | 0 of 48 |"
    )


def test_a_class_that_lost_a_replica_has_a_table_of_its_own() -> None:
    quiet, killed = tables([STEADY, KILLED], turns=12).split("\n\n")
    assert "vllm-router" not in quiet
    head, line, row = killed.splitlines()
    assert {each.count("|") for each in (head, line, row)} == {head.count("|")}
    assert row == "| vllm-router, all messages | 48 | 5 | http_502 2, lost 3 | 0 | 0.30 s / failed |"
    assert tables([], turns=12) == ""


def test_what_is_not_known_is_not_made_up_and_what_is_void_says_so() -> None:
    bare = Result(arm=Arm(peer=Peer.VLLM), figures=Figures(turns=1), void="it was interrupted")
    row = tables([bare], turns=1).splitlines()[-1]
    assert row == "| vllm-router, all messages (VOID: it was interrupted) | - | - / - | - | - | 0 of 1 |"
