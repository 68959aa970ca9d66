"""Counts by exact odds, and totals by the spread of several runs."""

from collections.abc import Sequence

import pytest

from loadtests.domain.compared import Compared, Finding, Judging
from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.domain.limits import Limits
from loadtests.domain.measured import RunSeen
from loadtests.domain.run_totals import failures, mistakes, totals

STRICT = Judging()
REPLICA = Slice(key="replica-1", turns=1_000, failed=0, ttft=Spread(), e2e=Spread(), tpot=Spread())


def run(**figures: object) -> RunSeen:
    usual = {"turns": 1_000, "audited": 40, "by_replica": (REPLICA,), "output_tokens_per_s": 9.0}
    return RunSeen(sessions=(), figures=Figures(**{**usual, **figures}), limits=Limits())  # type: ignore[arg-type]


def named(found: Sequence[Compared], name: str) -> Compared:
    return next(each for each in found if each.name == name)


@pytest.mark.parametrize("name", ["affinity_broken", "lost_turns", "doubled_turns", "altered_turns", "let_in"])
def test_the_first_of_what_must_not_be_is_worse(name: str) -> None:
    without, with_one = [run()], [run(**{name: 1})]
    assert named([*mistakes(without, with_one, STRICT)], name).finding is Finding.WORSE
    assert named([*mistakes(with_one, without, STRICT)], name).finding is Finding.NOISE
    assert named([*mistakes([run(**{name: 10})], without, STRICT)], name).finding is Finding.BETTER
    assert named([*mistakes(without, without, STRICT)], name).finding is Finding.NOISE


def test_a_side_that_tells_nothing_is_no_better() -> None:
    lost, unread = [run(lost_turns=50)], [run(audited=0)]
    found = named([*mistakes(lost, unread, STRICT)], "lost_turns")
    assert (found.finding, found.before, found.after, found.why) == (Finding.UNKNOWN, 50.0, None, "no record was read")
    broken, unplaced = [run(affinity_broken=50)], [run(), run(by_replica=())]
    found = named([*mistakes(unplaced, broken, STRICT)], "affinity_broken")
    assert (found.finding, found.before, found.after) == (Finding.UNKNOWN, None, 50.0)


def test_of_many_mistakes_chance_has_its_share() -> None:
    few, some, many = [run(affinity_broken=10)], [run(affinity_broken=14)], [run(affinity_broken=60)]
    assert named([*mistakes(few, some, STRICT)], "affinity_broken").finding is Finding.NOISE
    assert named([*mistakes(few, many, STRICT)], "affinity_broken").finding is Finding.WORSE


def test_a_run_without_turns_has_no_mistakes_either() -> None:
    assert named([*mistakes([run(turns=0)], [run()], STRICT)], "let_in").finding is Finding.NOISE


def test_failures_are_held_against_each_other_by_their_sessions() -> None:
    before, after = [run(failed=0)], [run(failed=40)]
    one_lost = failures(before, after, ((0, 40), (1, 40)), STRICT)
    assert (one_lost.finding, one_lost.why) == (Finding.NOISE, "in 0 of 40, then in 1 of 40")
    assert failures(before, after, ((0, 40), (9, 40)), STRICT).finding is Finding.WORSE
    assert failures(after, before, ((9, 40), (0, 40)), STRICT).finding is Finding.BETTER
    assert failures(before, before, ((0, 40), (0, 40)), STRICT).why == ""


def test_a_total_of_one_run_has_no_noise_to_be_judged_by() -> None:
    found = [*totals([run(preemptions=3)], [run(preemptions=30)], STRICT)]
    assert named(found, "preemptions").finding is Finding.UNKNOWN
    assert (named(found, "preemptions").before, named(found, "preemptions").after) == (3, 30)
    assert "replica_seconds" not in [each.name for each in found]


def test_a_total_is_judged_from_two_runs_of_each_side() -> None:
    one, two = [run(preemptions=3)], [run(preemptions=3), run(preemptions=4)]
    many = [run(preemptions=300), run(preemptions=301)]
    assert named([*totals(two, many, STRICT)], "preemptions").finding is Finding.WORSE
    assert named([*totals(many, two, STRICT)], "preemptions").finding is Finding.BETTER
    assert named([*totals(one, many, STRICT)], "preemptions").finding is Finding.UNKNOWN
    assert named([*totals(many, one, STRICT)], "preemptions").finding is Finding.UNKNOWN


@pytest.mark.parametrize(
    ("name", "more_is_better"),
    [("goodput_per_s", True), ("output_tokens_per_s", True), ("preemptions", False), ("replica_seconds", False)],
)
def test_totals_say_whether_more_of_them_is_better(name: str, *, more_is_better: bool) -> None:
    side = [run(preemptions=1, replica_seconds=1.0)]
    assert named([*totals(side, side, STRICT)], name).more_is_better is more_is_better


def test_mistakes_are_weighed_by_how_many_turns_there_were() -> None:
    short, long = [run(let_in=10, turns=100)], [run(let_in=12, turns=10_000)]
    found = named([*mistakes(short, long, STRICT)], "let_in")
    assert (found.before, found.after, found.finding) == (10, 12, Finding.BETTER)


def test_totals_of_several_runs_are_judged_by_their_spread() -> None:
    before = [run(goodput_per_s=value) for value in (10.0, 10.2, 9.8)]
    after = [run(goodput_per_s=value) for value in (12.0, 12.2, 11.8)]
    found = named([*totals(before, after, STRICT)], "goodput_per_s")
    assert found.finding is Finding.BETTER
    assert found.low == pytest.approx(2.0 - 2.776 * (2 * 0.04 / 3) ** 0.5, rel=1e-3)
    assert named([*totals(after, before, STRICT)], "goodput_per_s").finding is Finding.WORSE
    apart = [run(goodput_per_s=value) for value in (8.0, 12.2, 14.0)]
    assert named([*totals(before, apart, STRICT)], "goodput_per_s").finding is Finding.NOISE
