"""The same is within noise, a real change is found, and it has the right direction."""

import math
from collections import Counter
from collections.abc import Sequence

import pytest

from loadtests.domain.compared import Compared, Finding, Judging
from loadtests.domain.comparison import Comparison, compare
from loadtests.domain.drill import Drill
from loadtests.domain.figuring import figures_of
from loadtests.domain.limits import Limits
from loadtests.domain.measured import RunSeen, run_seen
from loadtests.domain.rows import Row
from tests.support.crowd_rows import LIMITS, Crowd, run_of
from tests.support.load_rows import a_failed_turn, a_session

ROUNDS = 40


def of(comparison: Comparison, name: str) -> Compared:
    return next(each for each in comparison.metrics if each.name == name)


def quickly(before: Sequence[RunSeen], after: Sequence[RunSeen], seed: object = 1, **judging: float) -> Comparison:
    return compare(before, after, seed=str(seed), judging=Judging(draws=300, **judging))


def test_the_same_is_within_noise_in_about_95_of_100_cases() -> None:
    """Each metric is judged by itself; a few more or less are the luck of 40 rounds."""
    outcomes: Counter[bool] = Counter()
    for at in range(ROUNDS):
        before, after = (run_of(Crowd(seed=2 * at + which, sessions=30, turns=10)) for which in (0, 1))
        judged = [each for each in quickly([before], [after], at).metrics if each.low is not None]
        outcomes.update(each.finding is Finding.NOISE for each in judged)
    assert 0.91 <= outcomes[True] / outcomes.total() <= 0.99


def test_runs_that_differ_by_themselves_widen_the_noise() -> None:
    """By sessions alone nearly all of these would differ; three runs on each side tell that this is nothing."""
    alone: Counter[bool] = Counter()
    pooled: Counter[bool] = Counter()
    for at in range(15):
        runs = [run_of(Crowd(seed=100 + 6 * at + which, sessions=30, turns=10, drift=0.4)) for which in range(6)]
        alone[of(quickly(runs[:1], runs[3:4], at), "ttft_p50_s").finding is Finding.NOISE] += 1
        pooled[of(quickly(runs[:3], runs[3:], at), "ttft_p50_s").finding is Finding.NOISE] += 1
    assert alone[True] <= 9
    assert pooled[True] >= 13


@pytest.mark.parametrize("seed", range(5))
def test_a_fifth_more_is_found_with_enough_sessions(seed: int) -> None:
    before = run_of(Crowd(seed=3 * seed, sessions=200, turns=10))
    after = run_of(Crowd(seed=3 * seed + 1, sessions=200, turns=10, slower=1.2))
    assert of(quickly([before], [after]), "ttft_p50_s").finding is Finding.WORSE
    assert of(quickly([after], [before]), "ttft_p50_s").finding is Finding.BETTER


def test_more_goodput_is_better_and_less_cached_is_worse() -> None:
    slow, quick = (run_of(Crowd(seed=9, slower=slower)) for slower in (4.0, 1.0))
    found = quickly([slow], [quick])
    assert of(found, "goodput_share").finding is Finding.BETTER
    assert of(found, "goodput_share").more_is_better
    colder = quickly([quick], [run_of(Crowd(seed=10, cold=0.5))])
    assert of(colder, "cached_share").finding is Finding.WORSE
    assert of(colder, "cold_share").finding is Finding.WORSE


def test_a_run_does_not_differ_from_itself() -> None:
    run = run_of(Crowd(seed=1))
    found = quickly([run], [run])
    assert not found.found(Finding.WORSE)
    assert not found.found(Finding.BETTER)
    assert of(found, "ttft_p95_s").before == run.figures.ttft.p95
    assert of(found, "e2e_p50_s").after == run.figures.e2e.p50


def test_equal_seeds_judge_alike() -> None:
    runs = [run_of(Crowd(seed=seed)) for seed in (1, 2)]
    assert quickly(runs[:1], runs[1:], "a") == quickly(runs[:1], runs[1:], "a")
    assert quickly(runs[:1], runs[1:], "a") != quickly(runs[:1], runs[1:], "b")


def test_a_percentile_that_never_comes_is_worse_than_any_that_does() -> None:
    fine, broken = run_of(Crowd(seed=1)), run_of(Crowd(seed=2, failing=0.3))
    found = of(quickly([fine], [broken]), "ttft_p95_s")
    assert (found.after, found.low, found.finding) == (math.inf, math.inf, Finding.WORSE)
    both = of(quickly([broken], [broken]), "ttft_p95_s")
    assert (both.finding, both.low, both.high) == (Finding.NOISE, 0.0, 0.0)
    assert of(quickly([fine], [broken]), "failed_turns").finding is Finding.WORSE


def test_too_few_values_are_not_judged() -> None:
    runs = [run_of(Crowd(seed=seed, sessions=20, turns=5)) for seed in (1, 2)]
    found = of(quickly(runs[:1], runs[1:]), "ttft_p99_s")
    assert (found.finding, found.why) == (Finding.UNKNOWN, "100 values on a side are too few, 500 are needed")
    assert of(quickly(runs[:1], runs[1:]), "bell_ttft_p95_s").finding is Finding.UNKNOWN


def test_a_turn_or_two_prove_no_share() -> None:
    good, bad = (figured(a_session(3, every_s=0, last_s=end, ended_s=end)) for end in (2.6, 200.0))
    found = of(quickly([good], [bad]), "goodput_share")
    assert (found.before, found.after, found.finding) == (1.0, 0.0, Finding.UNKNOWN)
    assert found.why == "3 turns on a side are too few, 8 are needed"
    many, none = (figured(a_session(8, every_s=0, last_s=end, ended_s=end)) for end in (2.6, 200.0))
    assert of(quickly([many], [none]), "goodput_share").finding is Finding.WORSE


def figured(rows: list[Row]) -> RunSeen:
    return run_seen(rows, figures=figures_of(rows, drill=Drill()), limits=Limits())


def test_each_metric_is_that_of_the_figures() -> None:
    runs = [run_of(Crowd(seed=seed, sessions=60, turns=10)) for seed in (1, 2)]
    found = quickly(runs[:1], runs[1:])
    before, after = (run.figures.as_json() for run in runs)
    for metric in found.metrics:
        measure, _, rank = metric.name.removesuffix("_s").rpartition("_")
        if rank in {"p50", "p95", "p99"}:
            assert (metric.before, metric.after) == (before[measure][rank], after[measure][rank])  # type: ignore[index]
    for share in ("goodput_share", "cached_share", "cold_share"):
        assert of(found, share).before == pytest.approx(before[share])


def steady_run(cached: int, *, trainees: int = 10, failing: int = 0) -> RunSeen:
    """All turns find the same in the cache, so that drawing sessions anew changes nothing."""
    rows = [
        turn
        for trainee in range(trainees)
        for turn in a_session(5, trainee=trainee, prompt_tokens=1_000, cached_tokens=cached)
    ]
    rows += [a_failed_turn(6, trainee=trainee, session=f"s-{trainee}", at_s=60.0) for trainee in range(failing)]
    return run_seen(rows, figures=figures_of(rows, drill=Drill(), targets=LIMITS), limits=LIMITS)


@pytest.mark.parametrize(
    ("before", "after", "half"),
    [
        ((400, 500, 600), (500, 600, 700), 2.776 * math.sqrt(0.01 * (1 / 3 + 1 / 3))),
        ((400, 600), (500, 700), 4.303 * math.sqrt(0.02 * (1 / 2 + 1 / 2))),
        ((400, 500, 600), (600,), 4.303 * math.sqrt(0.01 * (1 / 3 + 1 / 1))),
    ],
)
def test_what_only_differs_from_run_to_run_is_judged_by_student(
    before: Sequence[int], after: Sequence[int], half: float
) -> None:
    found = of(quickly([*map(steady_run, before)], [*map(steady_run, after)]), "cached_share")
    assert found.low == pytest.approx(max(0.1 - half, -0.5), rel=1e-3)  # a share of half cannot fall by more
    assert found.high == pytest.approx(0.1 + half, rel=1e-3)


def test_a_single_run_of_each_side_knows_nothing_of_runs() -> None:
    found = of(quickly([steady_run(400)], [steady_run(500)]), "cached_share")
    assert (found.low, found.high) == pytest.approx((0.1, 0.1))


def test_failures_are_among_the_sessions_of_their_own_side() -> None:
    found = of(quickly([steady_run(400, trainees=40, failing=8)], [steady_run(400, failing=8)]), "failed_turns")
    assert (found.why, found.finding) == ("in 8 of 40, then in 8 of 10", Finding.WORSE)


def test_the_smaller_side_says_what_can_be_drawn() -> None:
    many, few = run_of(Crowd(seed=1, sessions=30, turns=10)), run_of(Crowd(seed=2, sessions=7, turns=10))
    for sides in (([many], [few]), ([few], [many])):
        found = quickly(*sides)
        assert (found.of, sorted(found.units)) == ("turns", [70, 300])
        assert of(found, "ttft_p95_s").why == "70 values on a side are too few, 100 are needed"


def test_few_sessions_are_judged_by_their_turns() -> None:
    runs = [run_of(Crowd(seed=seed, sessions=1, turns=200, slower=slower)) for seed, slower in ((1, 1.0), (1, 2.0))]
    found = quickly(runs[:1], runs[1:])
    assert (found.of, found.units) == ("turns", (200, 200))
    assert of(found, "ttft_p50_s").finding is Finding.WORSE
    assert of(found, "cold_share").why == "not measured on both sides"


def test_many_sessions_are_judged_by_themselves() -> None:
    runs = [run_of(Crowd(seed=seed, sessions=8, turns=5)) for seed in (1, 2)]
    found = quickly(runs[:1], runs[1:])
    assert (found.of, found.units) == ("sessions", (8, 8))


def test_a_run_without_turns_is_not_judged_by_times() -> None:
    found = quickly([run_of(Crowd(seed=1))], [run_of(Crowd(seed=1, sessions=0))])
    assert {each.finding for each in found.metrics if each.name.endswith("_s") and "ttft" in each.name} == {
        Finding.UNKNOWN
    }
    assert of(found, "goodput_share").after is None


def test_a_higher_level_asks_for_more() -> None:
    runs = [run_of(Crowd(seed=seed)) for seed in (1, 2)]
    usual, strict = (of(quickly(runs[:1], runs[1:], level=level), "ttft_p95_s") for level in (0.95, 0.999))

    change, wider = float(usual.after or 0) - float(usual.before or 0), 3.2905 / 1.96
    assert change - float(strict.low or 0) == pytest.approx(wider * (change - float(usual.low or 0)), rel=1e-3)
    assert float(strict.high or 0) - change == pytest.approx(wider * (float(usual.high or 0) - change), rel=1e-3)


def test_no_span_reaches_below_nothing() -> None:
    slow, quick = (
        run_of(Crowd(seed=seed, sessions=8, turns=3, slower=slower)) for seed, slower in ((1, 30.0), (2, 1.0))
    )
    found = of(quickly([slow], [quick], level=0.999), "ttft_p50_s")
    assert found.low == -float(found.before or 0)


def test_runs_that_do_not_differ_make_a_span_narrower() -> None:
    """What their sessions explain is not counted once more as a difference between the runs."""
    one, other = run_of(Crowd(seed=1)), run_of(Crowd(seed=2))
    single, pooled = (of(quickly([one] * runs, [other] * runs), "ttft_p50_s") for runs in (1, 3))
    assert width(pooled) < width(single)


def width(metric: Compared) -> float:
    assert metric.low is not None
    assert metric.high is not None
    return metric.high - metric.low
