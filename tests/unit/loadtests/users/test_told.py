"""The figures of a run by hand, in a few lines."""

from loadtests.domain.figures import Figures, Spread
from loadtests.users.told import has_passed, told


def test_a_run_is_told_in_a_few_lines() -> None:
    spread = Spread(count=4, p50=0.1, p95=0.25)
    found = Figures(turns=4, ttft=spread, e2e=spread, tpot=spread, prompt_tokens=100, cached_tokens=80)
    assert told(found, speed_up=1.0).splitlines() == [
        "4 turns, 0 failed",
        "TTFT p50 100 ms, p95 250 ms; whole turn p50 100 ms, p95 250 ms; per token p50 100 ms",
        "prompt tokens 100, of which cached 80 %",
        "no turn failed; `drillyard load run` would hold them to targets",
    ]
    assert "p50 100 ms, in seconds of the replicas, which are 4 times as fast as ours\n" in told(found, speed_up=4.0)


def test_a_run_without_a_turn_or_with_a_failed_one_has_not_passed() -> None:
    assert not has_passed(Figures())
    failed = Figures(turns=2, failed=1, failures={"http_500": 1})
    assert not has_passed(failed)
    assert told(failed, speed_up=1.0).startswith("2 turns, 1 failed {'http_500': 1}\nTTFT p50 -")
    assert told(failed, speed_up=1.0).endswith("failed")
