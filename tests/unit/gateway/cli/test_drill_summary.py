import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.cli.drill_summary import Failure, ReplicaChange, TurnRow, figures, percentile, replica_changes, summary
from sessions.domain.turn import Usage


def row(
    turn: int = 1,
    *,
    trainee: int = 1,
    ttft: float | None = 1.0,
    replica: str | None = "a",
    pin: str | None = None,
    failed: bool = False,
) -> TurnRow:
    return TurnRow(
        trainee,
        f"session-{trainee}",
        turn,
        intended_s=0.0,
        started_s=float(turn),
        ttft_s=ttft,
        total_s=None if failed and ttft is None else 2.0,
        usage=Usage(100, 80, 7),
        replica=replica,
        pin=pin,
        failure=Failure(trainee, f"session-{trainee}", turn, "cut", "was cut") if failed else None,
    )


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([], 0.95, None),
        ([7.0], 0.5, 7.0),
        ([7.0], 0.95, 7.0),
        ([2.0, 1.0], 0.5, 1.0),
        ([3.0, 1.0, 2.0], 0.5, 2.0),
        ([float(n) for n in range(1, 21)], 0.95, 19.0),  # 0.95 * 20 is 19.000000000000004 in some arithmetic
        ([float(n) for n in range(1, 101)], 0.95, 95.0),
        ([float(n) for n in range(1, 11)], 0.95, 10.0),  # of few samples the highest, not something in between
        ([1.0, 2.0, 3.0], 1.0, 3.0),
    ],
)
def test_percentiles_are_nearest_ranks(values: list[float], share: float, expected: float | None) -> None:
    assert percentile(values, share) == expected


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1])
def test_a_share_outside_of_its_range_is_an_error(share: float) -> None:
    with pytest.raises(ValueError, match="share"):
        percentile([1.0], share)


@given(values=st.lists(st.floats(0, 100), min_size=1), share=st.floats(0.01, 1))
def test_at_least_the_share_of_all_values_lies_at_or_below_the_percentile(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found is not None
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-6


def test_a_failed_turn_counts_as_one_that_took_for_ever() -> None:
    found = figures([row(ttft=1.0), row(ttft=0.1, failed=True), row(ttft=None, failed=True)])
    assert found.ttft_s.p50 == math.inf
    assert found.ttft_s.samples == 3
    assert found.failed == 2


def test_a_good_turn_without_text_is_no_sample_of_the_first_text() -> None:
    found = figures([row(ttft=None), row(ttft=0.5)])
    assert (found.ttft_s.samples, found.ttft_s.p95, found.total_s.samples) == (1, 0.5, 2)


def test_tokens_add_up() -> None:
    found = figures([row(), row(2, replica="b"), row(3, replica=None)])
    assert (found.prompt_tokens, found.cached_tokens, found.completion_tokens) == (300, 240, 21)
    assert found.replicas == ("a", "b")


def test_every_change_of_replica_is_found_with_its_reason() -> None:
    rows = [
        row(3, replica="b", pin="kept"),
        row(1, replica="a", pin="new"),
        row(2, replica="b", pin="moved"),
        row(4, replica=None),
        row(5, replica="a", pin="new"),
        row(1, trainee=2, replica="b", pin="new"),
    ]
    assert replica_changes(rows) == [
        ReplicaChange(1, "session-1", 2, "a", "b", "moved"),
        ReplicaChange(1, "session-1", 5, "b", "a", "new"),
    ]


def test_turns_are_told_apart_by_their_number() -> None:
    found = summary([row(2, ttft=4.0), row(1, ttft=1.0), row(1, trainee=2, ttft=3.0)], wanted_turns=4)
    assert list(found.by_turn) == [1, 2]
    assert found.by_turn[1].ttft_s.p95 == 3.0
    assert found.by_turn[2].ttft_s.samples == 1
    assert found.totals.turns == 3
    assert found.wanted_turns == 4


def test_a_drill_passes_only_when_something_ran_and_nothing_failed() -> None:
    other = Failure(1, None, None, "no_seat", "no seat is free")
    assert summary([row()], wanted_turns=1).passed
    assert not summary([], wanted_turns=1).passed
    assert not summary([row(failed=True)], wanted_turns=1).passed
    failed = summary([row(), row(2, failed=True)], others=[other], wanted_turns=2)
    assert [failure.code for failure in failed.failures] == ["cut", "no_seat"]
