"""What an interval says, in which direction, and whether it matters."""

import json
import math

import pytest

from loadtests.domain.compared import Compared, Finding, Judging, judged

STRICT = Judging()


@pytest.mark.parametrize(
    ("interval", "more_is_better", "finding"),
    [
        ((0.1, 0.3), False, Finding.WORSE),
        ((-0.3, -0.1), False, Finding.BETTER),
        ((0.1, 0.3), True, Finding.BETTER),
        ((-0.3, -0.1), True, Finding.WORSE),
        ((-0.1, 0.3), False, Finding.NOISE),
        ((0.0, 0.3), False, Finding.NOISE),
        ((-0.3, 0.0), True, Finding.NOISE),
        ((0.0, 0.0), False, Finding.NOISE),
    ],
)
def test_an_interval_without_zero_has_a_direction(
    interval: tuple[float, float], more_is_better: bool, finding: Finding
) -> None:
    assert judged("any", (1.0, 1.2), interval, judging=STRICT, more_is_better=more_is_better).finding is finding


def test_what_is_too_small_to_matter_is_told_as_such() -> None:
    told = judged("any", (1.0, 1.04), (0.03, 0.05), judging=Judging(matters=0.05))
    assert (told.finding, told.why) == (Finding.NOISE, "less than 5% of it")
    assert judged("any", (1.0, 1.5), (0.03, 0.8), judging=Judging(matters=0.5)).finding is Finding.WORSE
    assert judged("any", (1.0, 1.06), (0.03, 0.08), judging=Judging(matters=0.05)).finding is Finding.WORSE


def test_what_comes_to_an_end_again_is_better_however_little_one_asks_for() -> None:
    told = judged("any", (math.inf, 1.0), (-math.inf, -math.inf), judging=Judging(matters=0.05))
    assert told.finding is Finding.BETTER


def test_changes_are_told_as_shares_of_before() -> None:
    told = judged("any", (2.0, 1.5), (-0.6, -0.4), judging=STRICT)
    assert told.share == -0.25
    assert told.as_share(told.low) == -0.3
    assert judged("any", (0.0, 1.5), (1, 2), judging=STRICT).share is None
    assert judged("any", (math.inf, 1.5), (-9, -9), judging=STRICT).share is None
    assert Compared(name="any", before=None, after=1.0, finding=Finding.UNKNOWN).share is None


def test_json_has_no_infinite_numbers() -> None:
    told = judged("any", (1.0, math.inf), (math.inf, math.inf), judging=STRICT).as_json()
    assert json.loads(json.dumps(told, allow_nan=False))["after"] == "inf"
    assert told["share"] == "inf"
