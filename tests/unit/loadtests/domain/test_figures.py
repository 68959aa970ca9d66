"""What figures say beside what was counted."""

import json
import math

from loadtests.domain.figures import ColdReason, Figures, Slice, Spread


def test_shares_are_of_what_there_was() -> None:
    figures = Figures(
        turns=200,
        failed=1,
        good_turns=150,
        prompt_tokens=1000,
        cached_tokens=900,
        warm_turns=40,
        cold={ColdReason.MOVED: 1, ColdReason.EVICTED: 3},
    )
    assert figures.failure_share == 0.005
    assert figures.goodput_share == 0.75
    assert figures.cached_share == 0.9
    assert figures.cold_share == 0.1


def test_of_nothing_there_is_no_share() -> None:
    nothing = Figures()
    assert (nothing.failure_share, nothing.goodput_share, nothing.cached_share, nothing.cold_share) == (None,) * 4
    assert Figures(prompt_tokens=10).cached_share is None
    assert Figures(cached_tokens=0).cached_share is None


def test_json_says_what_is_infinite_and_what_was_not_measured() -> None:
    slow = Spread(count=2, p50=0.5, p95=math.inf)
    part = Slice(key=1, turns=2, failed=1, ttft=slow, e2e=slow, tpot=Spread())
    told = json.loads(json.dumps(Figures(turns=2, ttft=slow, by_turn=(part,), failures={"timeout": 1}).as_json()))
    assert told["ttft"] == {
        "count": 2, "mean": None, "p50": 0.5, "p90": None, "p95": "inf", "p99": None, "worst": None,
    }  # fmt: skip
    assert told["by_turn"][0]["ttft"]["p95"] == "inf"
    assert told["failures"] == {"timeout": 1}
    assert told["knee"] is None
    assert told["failure_share"] == 0.0
    assert told["cold_share"] is None
