"""What is kept of an arm."""

import json

from loadtests.beside.arms import Arm
from loadtests.beside.result import Result, continued
from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.domain.rows import Kind, Row
from loadtests.overhead.peers import Peer


def row(kind: Kind = Kind.TURN, *, is_continued: bool = True, failure: str | None = None) -> Row:
    return Row(
        kind=kind,
        worker=0,
        trainee=0,
        session="s",
        turn=1,
        planned_s=0.0,
        started_s=0.0,
        ended_s=1.0,
        continued=is_continued,
        failure=failure,
    )


def test_turns_that_another_replica_took_over_are_counted_if_they_came_to_their_end() -> None:
    assert continued([row(), row(failure="timeout"), row(Kind.RESUME), row(is_continued=False)]) == 1


def test_the_first_tokens_of_a_turn_are_found_by_its_number() -> None:
    second = Slice(key=2, turns=4, failed=0, ttft=Spread(count=4, p50=0.3), e2e=Spread(), tpot=Spread())
    result = Result(arm=Arm(peer=Peer.VLLM), figures=Figures(by_turn=(second,)))
    assert (result.ttft_s(2), result.ttft_s(1)) == (0.3, None)


def test_it_can_be_written() -> None:
    told = Result(arm=Arm(peer=Peer.VLLM, history=20), figures=Figures(turns=3), prompts=7, computed=5).as_json()
    found = json.loads(json.dumps(told))
    assert (found["arm"]["peer"], found["arm"]["history"], found["prompts"], found["computed"]) == (
        *("vllm-router", 20),
        *(7, 5),
    )
    assert found["figures"]["turns"] == 3
