"""Each target met, missed and not judged; and what the whole run is worth."""

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtests.domain.drill import Crowd, Drill, Shape, Wire
from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.domain.targets import DEFAULT, Targets
from loadtests.domain.verdict import Judged, Standing, Verdict, Whole, judge, verdict_of


def spread(value: float, count: int = 4_000) -> Spread:
    return Spread(count=count, mean=value, p50=value, p90=value, p95=value, p99=value, worst=value)


GOOD = Figures(
    turns=4_000,
    good_turns=3_990,
    sessions=120,
    ttft=spread(0.4),
    ttft_planned=spread(0.4),
    bell_ttft=spread(0.9, 120),
    e2e=spread(3.0),
    tpot=spread(0.02),
    warm_turns=3_880,
    cold={"moved": 10, "folded": 20, "evicted": 3},
    audited=120,
    by_replica=(Slice(key="replica-1", turns=4_000, failed=0, ttft=Spread(), e2e=Spread(), tpot=Spread()),),
    client_lag=spread(0.004),
)


def of(verdict: Verdict, target: str) -> Judged:
    return next(each for each in verdict.judged if each.target == target)


def judged(target: str, figures: Figures, targets: Targets = DEFAULT) -> Judged:
    return of(judge(figures, targets), target)


def test_a_run_that_keeps_to_everything_has_passed() -> None:
    verdict = judge(GOOD, replace(DEFAULT, tpot_p95_s=0.03, cold_moved_share=0.01))
    assert verdict.whole is Whole.PASSED
    assert verdict.exit_code == 0
    assert len(verdict.of(Standing.MET)) == len(verdict.judged) == 16
    assert not any(each.more for each in verdict.judged)


def test_a_run_without_a_turn_has_missed() -> None:
    verdict = judge(Figures(), DEFAULT)
    assert verdict.whole is Whole.MISSED
    assert verdict.exit_code == 1
    assert of(verdict, "turns").why == "not one was played, so nothing was proven"
    assert of(verdict, "ttft_p95_s").why == "nothing was measured"


@pytest.mark.parametrize(
    ("target", "change"),
    [
        ("ttft_p95_s", {"ttft": spread(1.6)}),
        ("ttft_planned_p95_s", {"ttft_planned": spread(1.6)}),
        ("bell_ttft_p95_s", {"bell_ttft": spread(1.6, 120)}),
        ("e2e_p95_s", {"e2e": spread(8.1)}),
        ("goodput_share", {"good_turns": 3_799}),
        ("failure_share", {"failed": 5}),
        ("cold_share", {"cold": {"moved": 195}}),
        ("affinity_broken", {"affinity_broken": 1}),
        ("lost_turns", {"lost_turns": 1}),
        ("doubled_turns", {"doubled_turns": 1}),
        ("altered_turns", {"altered_turns": 1}),
        ("false_blocks", {"false_blocks": 1}),
        ("let_in", {"let_in": 1}),
    ],
)
def test_each_target_can_be_missed_alone(target: str, change: dict[str, object]) -> None:
    verdict = judge(replace(GOOD, **change), DEFAULT)  # type: ignore[arg-type]
    assert verdict.whole is Whole.MISSED
    assert verdict.exit_code == 1
    assert [each.target for each in verdict.of(Standing.MISSED)] == [target]


def test_what_was_let_go_is_not_judged_at_all() -> None:
    names = [name for name in DEFAULT.as_json() if name not in ("beyond", "confidence")]
    some = replace(DEFAULT, **dict.fromkeys(names))  # type: ignore[arg-type]
    verdict = judge(replace(GOOD, failed=4_000, client_lag=spread(9)), replace(some, let_in=0))
    assert [each.target for each in verdict.judged] == ["turns", "let_in"]
    assert verdict.whole is Whole.PASSED


def test_a_run_that_is_not_whole_cannot_pass_and_can_miss() -> None:
    assert judge(GOOD, DEFAULT, is_whole=False).whole is Whole.UNPROVEN
    assert judge(replace(GOOD, let_in=1), DEFAULT, is_whole=False).whole is Whole.MISSED


def test_what_spoiled_a_run_is_said_once() -> None:
    assert judge(GOOD, DEFAULT, spoiled=["a worker died", "a worker died"]).void == ("a worker died",)


def test_a_single_turn_is_not_none() -> None:
    assert judged("turns", replace(GOOD, turns=1)).standing is Standing.MET


def test_a_miss_says_by_how_much() -> None:
    missed = judged("ttft_p95_s", replace(GOOD, ttft=spread(1.8)))
    assert missed.missed_by == pytest.approx(0.3)
    assert missed.missed_by_share == pytest.approx(0.2)
    floor = judged("goodput_share", replace(GOOD, good_turns=3_420))
    assert floor.missed_by == pytest.approx(0.095)
    assert floor.missed_by_share == pytest.approx(0.1)
    count = judged("let_in", replace(GOOD, let_in=3))
    assert (count.missed_by, count.missed_by_share) == (3, None)
    assert judged("let_in", GOOD).missed_by is None


def test_a_limit_that_is_just_reached_is_kept() -> None:
    assert judged("ttft_p95_s", replace(GOOD, ttft=spread(1.5))).standing is Standing.MET
    assert judged("goodput_share", replace(GOOD, good_turns=3_800)).standing is Standing.MET


def test_failures_make_a_percentile_endless() -> None:
    missed = judged("ttft_p95_s", replace(GOOD, ttft=spread(math.inf)))
    assert missed.missed_by == math.inf


def test_a_percentile_waits_for_five_beyond_it() -> None:
    few = judged("ttft_p95_s", replace(GOOD, ttft=spread(0.4, 99)))
    assert (few.standing, few.more, few.why) == (Standing.NOT_JUDGED, 1, "99 are too few for a p95")
    assert judged("ttft_p95_s", replace(GOOD, ttft=spread(0.4, 100))).standing is Standing.MET


def test_too_few_are_missed_all_the_same_when_chance_is_out_of_the_question() -> None:
    slow = replace(spread(9.0, 12), p50=1.0)
    assert judged("ttft_p95_s", replace(GOOD, ttft=replace(slow, p90=1.0))).standing is Standing.NOT_JUDGED
    assert judged("ttft_p95_s", replace(GOOD, ttft=replace(slow, p50=9.0))).standing is Standing.MISSED
    assert judged("ttft_p95_s", replace(GOOD, ttft=spread(9.0, 1))).standing is Standing.NOT_JUDGED


def test_no_failure_is_proven_only_by_many_turns() -> None:
    few = judged("failure_share", replace(GOOD, turns=700, good_turns=700))
    assert (few.standing, few.more) == (Standing.NOT_JUDGED, 2_295)
    assert few.why == "0 of 700: the true share may be up to 0.43%"
    assert judged("failure_share", replace(GOOD, turns=2_995)).standing is Standing.MET


@given(st.integers(0, 3), st.integers(1, 3_000), st.sampled_from([0.001, 0.01]))
def test_so_many_turns_more_and_not_one_less_prove_a_share(failed: int, turns: int, limit: float) -> None:
    targets = replace(DEFAULT, failure_share=limit)
    few = judged("failure_share", replace(GOOD, failed=failed, turns=max(turns, failed)), targets)
    if few.standing is Standing.NOT_JUDGED:
        enough = replace(GOOD, failed=failed, turns=max(turns, failed) + few.more)
        assert judged("failure_share", enough, targets).standing is Standing.MET
        assert judged("failure_share", replace(enough, turns=enough.turns - 1), targets).more == 1


def test_each_failure_asks_for_more_turns() -> None:
    one = judged("failure_share", replace(GOOD, failed=1))
    assert (one.standing, one.more) == (Standing.NOT_JUDGED, 742)
    assert judged("failure_share", replace(GOOD, turns=4_742, failed=1)).standing is Standing.MET


def test_too_many_failures_are_named() -> None:
    missed = judged("failure_share", replace(GOOD, turns=40, failed=4, failures={"timeout": 1, "http_503": 3}))
    assert (missed.standing, missed.why) == (Standing.MISSED, "3 http_503, 1 timeout")


def test_a_share_of_nothing_needs_no_proof() -> None:
    none = replace(DEFAULT, failure_share=0.0, cold_share=0.0)
    assert judged("failure_share", replace(GOOD, turns=10), none).standing is Standing.MET
    assert judged("cold_share", replace(GOOD, cold={}, warm_turns=2), none).standing is Standing.MET
    assert judged("cold_share", replace(GOOD, cold={"moved": 1}, warm_turns=2), none).standing is Standing.MISSED


def test_cold_turns_are_judged_once_enough_are_known() -> None:
    few = judged("cold_share", replace(GOOD, warm_turns=60, cold={"moved": 1}))
    assert (few.standing, few.more) == (Standing.NOT_JUDGED, 40)
    assert judged("cold_share", replace(GOOD, warm_turns=60, cold={"moved": 40})).standing is Standing.MISSED
    unknown = judged("cold_share", replace(GOOD, warm_turns=0, cold={}))
    assert (unknown.standing, unknown.measured) == (Standing.NOT_JUDGED, None)
    assert unknown.why == "no second or later turn told its cached tokens"


@pytest.mark.parametrize(
    ("drill", "latest", "standing"),
    [
        (Drill(shape=Shape.TRACE, wire=Wire.CHAT), 1, Standing.IDLE),
        (Drill(shape=Shape.TRACE, wire=Wire.CHAT), 2, Standing.NOT_JUDGED),
        (Drill(shape=Shape.LONG_PROMPT, wire=Wire.CHAT), 1, Standing.IDLE),
        (Drill(turns=(1, 1)), 1, Standing.IDLE),
        (Drill(turns=(1, 2)), 1, Standing.NOT_JUDGED),
    ],
)
def test_cold_turns_are_nothing_to_sessions_of_one_turn(drill: Drill, latest: int, standing: Standing) -> None:
    turns = tuple(replace(GOOD.by_replica[0], key=key) for key in range(1, latest + 1))
    cold = of(judge(replace(GOOD, warm_turns=0, cold={}, by_turn=turns), DEFAULT, drill=drill), "cold_share")
    assert cold.standing is standing


def test_cold_turns_are_held_to_their_reasons_too() -> None:
    targets = replace(DEFAULT, cold_moved_share=0.001, cold_folded_share=0.01, cold_evicted_share=0.01)
    assert judged("cold_moved_share", GOOD, targets).standing is Standing.MISSED
    assert judged("cold_folded_share", GOOD, targets).standing is Standing.MET
    assert judged("cold_evicted_share", GOOD, targets).measured == pytest.approx(3 / 3_880)
    lost = judged("cold_lost_share", replace(GOOD, cold={"lost": 388}), replace(DEFAULT, cold_lost_share=0.05))
    assert lost.standing is Standing.MISSED
    assert lost.measured == pytest.approx(0.1)


def test_goodput_of_few_turns_waits_too() -> None:
    few = judged("goodput_share", replace(GOOD, turns=20, good_turns=19))
    assert (few.standing, few.more) == (Standing.NOT_JUDGED, 80)
    assert judged("goodput_share", replace(GOOD, turns=20, good_turns=10)).standing is Standing.MISSED


def test_a_record_that_was_not_read_may_lack_a_turn_too() -> None:
    one_unread = replace(GOOD, audited=GOOD.sessions - 1)
    told = judged("lost_turns", one_unread)
    assert (told.standing, told.more, told.why) == (Standing.NOT_JUDGED, 1, "1 of 120 records were not read")
    assert judge(one_unread, DEFAULT).whole is Whole.UNPROVEN
    assert judged("lost_turns", replace(one_unread, lost_turns=1)).standing is Standing.MISSED


def test_of_chats_under_one_name_affinity_says_nothing() -> None:
    chats = Drill(wire=Wire.CHAT)
    assert of(judge(GOOD, DEFAULT, drill=chats), "affinity_broken").standing is Standing.IDLE
    two = replace(GOOD, by_replica=(*GOOD.by_replica, replace(GOOD.by_replica[0], key="replica-2")))
    assert of(judge(two, DEFAULT, drill=chats), "affinity_broken").standing is Standing.MET
    assert (
        of(judge(replace(two, affinity_broken=1), DEFAULT, drill=chats), "affinity_broken").standing is Standing.MISSED
    )
    assert of(judge(GOOD, DEFAULT, drill=Drill()), "affinity_broken").standing is Standing.MET


def test_lost_turns_are_known_only_when_the_record_was_read() -> None:
    verdict = judge(replace(GOOD, audited=0), DEFAULT)
    assert of(verdict, "lost_turns").why == "no record was read"
    assert (verdict.whole, verdict.exit_code) == (Whole.UNPROVEN, 3)


def test_broken_affinity_is_known_only_where_replies_tell_their_replica() -> None:
    unknown = judged("affinity_broken", replace(GOOD, by_replica=(replace(GOOD.by_replica[0], turns=0),)))
    assert (unknown.standing, unknown.why) == (Standing.NOT_JUDGED, "no reply tells its replica")


def test_what_a_drill_has_nothing_of_does_not_apply() -> None:
    alone = Drill(shape=Shape.SINGLE, wire=Wire.CHAT)
    verdict = judge(replace(GOOD, audited=0, bell_ttft=Spread()), DEFAULT, drill=alone)
    assert {each.target for each in verdict.of(Standing.IDLE)} == {
        "lost_turns",
        "doubled_turns",
        "altered_turns",
        "bell_ttft_p95_s",
        "let_in",
        "affinity_broken",
    }
    assert verdict.whole is Whole.PASSED


def test_a_class_with_hostile_trainees_is_held_to_everything() -> None:
    verdict = judge(GOOD, DEFAULT, drill=Drill(crowd=Crowd(hostile=0.1)))
    assert verdict.of(Standing.IDLE) == ()


def test_a_late_client_spoils_the_run_whatever_it_measured() -> None:
    verdict = judge(replace(GOOD, failed=100, client_lag=spread(0.08)), DEFAULT)
    assert verdict.whole is Whole.VOID
    assert verdict.exit_code == 3
    assert verdict.void == (
        "the client itself was late: p99 80 ms, at most 50 ms; play again with more --workers, or while no other "
        "program has the processors",
    )


def test_a_client_of_which_nothing_is_known_spoils_it_too() -> None:
    assert judge(replace(GOOD, client_lag=Spread()), DEFAULT).void == ("how late the client itself was is not known",)


def test_what_else_spoiled_it_is_told_first() -> None:
    verdict = judge(GOOD, DEFAULT, spoiled=("rows of worker 1 are missing",))
    assert (verdict.whole, verdict.void) == (Whole.VOID, ("rows of worker 1 are missing",))


def test_a_verdict_is_read_as_it_was_told() -> None:
    verdict = judge(replace(GOOD, ttft=spread(math.inf), audited=0), DEFAULT, spoiled=("why not",))
    told = json.loads(json.dumps(verdict.as_json(), allow_nan=False))
    assert verdict_of(told) == verdict
    assert told["targets_digest"] == DEFAULT.digest


@pytest.mark.parametrize("told", [{}, {"whole": "fine"}, {"whole": "passed", "judged": [1], "void": []}])
def test_what_is_no_verdict_is_refused(told: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"not a verdict|is not a valid Whole"):
        verdict_of(told)


@given(turns=st.integers(0, 5_000), failed=st.integers(0, 5_000), lag=st.floats(0, 1), ttft=st.floats(0, 10))
def test_only_what_is_met_throughout_passes(turns: int, failed: int, lag: float, ttft: float) -> None:
    figures = replace(GOOD, turns=turns, failed=min(failed, turns), client_lag=spread(lag), ttft=spread(ttft, turns))
    verdict = judge(figures, DEFAULT)
    assert (verdict.whole is Whole.PASSED) == (verdict.exit_code == 0)
    if verdict.whole is Whole.PASSED:
        assert turns >= 2_995
        assert failed * 1_000 <= turns
        assert not verdict.of(Standing.MISSED)
        assert not verdict.of(Standing.NOT_JUDGED)


def test_a_prompt_that_is_too_long_has_to_be_refused() -> None:
    verdict = judge(replace(GOOD, let_in=1), Targets(), drill=Drill(shape=Shape.LONG_PROMPT, wire=Wire.CHAT))
    assert next(each.standing for each in verdict.judged if each.target == "let_in") is Standing.MISSED
