"""How many replicas a pool wants, and since when."""

from dataclasses import replace
from functools import cache
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.pool_rules import PoolRules
from router.fleet.domain.steps import Block, Steps, summed
from router.fleet.domain.timeline import Lead, Shortage, lead, need, reach_s, replicas_for, shortages, wanted

RULES = PoolRules(seats_per_replica=10, maximum=50, starts_at_once=4)
BELL = 10_000.0
MINUTE = 60.0
HALF_AN_HOUR = Lead(start_s=3 * MINUTE, last_s=3 * MINUTE, ahead_s=30 * MINUTE)
JUST_IN_TIME = Lead(start_s=3 * MINUTE, last_s=3 * MINUTE, ahead_s=3 * MINUTE)


def replicas(count: int, begins: float = BELL, length: float = 3600.0) -> Block:
    return Block(begins, begins + length, count)


def test_the_lead_is_half_an_hour_or_what_was_measured_with_safety() -> None:
    assert lead(RULES, 100.0) == Lead(start_s=150.0, last_s=300.0, ahead_s=1800.0)
    assert lead(RULES, 2000.0) == Lead(start_s=3000.0, last_s=6000.0, ahead_s=6000.0)
    assert lead(RULES, None) == Lead(start_s=270.0, last_s=540.0, ahead_s=1800.0)
    assert lead(replace(RULES, lead_s=0.0, safety=2.0, spare_starts=0), 100.0) == Lead(200.0, 200.0, 200.0)


@pytest.mark.parametrize(("seats", "count"), [(0, 0), (1, 1), (10, 1), (11, 2), (500, 50), (501, 51)])
def test_a_replica_more_for_each_begun_share_of_seats(seats: int, count: int) -> None:
    assert replicas_for(seats, RULES) == count


def test_a_reserve_is_there_while_there_are_seats_and_room() -> None:
    rules = replace(RULES, reserve=2, maximum=5)
    seats = summed([Block(0.0, 10.0, 15), Block(20.0, 30.0, 40), Block(40.0, 50.0, 900)])
    assert [need(seats, rules).at(moment) for moment in (0.0, 10.0, 20.0, 30.0, 40.0)] == [4, 0, 5, 0, 5]


def test_a_class_has_its_replicas_wanted_from_the_lead_until_its_end() -> None:
    assert wanted(summed([replicas(4)]), RULES, HALF_AN_HOUR) == Steps(((BELL - 1800.0, 4), (BELL + 3600.0, 0)))


def test_what_the_lead_cannot_start_is_started_before_it_in_waves() -> None:
    plan = wanted(summed([replicas(10)]), RULES, JUST_IN_TIME)
    assert plan.changes == ((BELL - 540, 2), (BELL - 360, 6), (BELL - 180, 10), (BELL + 3600, 0))


def test_a_start_that_fails_can_be_done_again_before_the_bell() -> None:
    ahead = Lead(start_s=3 * MINUTE, last_s=6 * MINUTE, ahead_s=6 * MINUTE)
    plan = wanted(summed([replicas(6)]), RULES, ahead)
    assert plan.changes == ((BELL - 540, 2), (BELL - 360, 6), (BELL + 3600, 0))


def test_a_class_that_the_lead_can_start_is_not_started_earlier() -> None:
    """Ten waves of four fit into half an hour; the next replica needs a wave before."""
    assert wanted(summed([replicas(40)]), RULES, HALF_AN_HOUR).changes[0] == (BELL - 1800.0, 40)
    assert wanted(summed([replicas(41)]), RULES, HALF_AN_HOUR).changes[:2] == ((BELL - 1980.0, 1), (BELL - 1800.0, 41))


def test_classes_with_bells_close_together_share_the_waves() -> None:
    plan = wanted(summed([replicas(4), replicas(4, BELL + 60.0)]), RULES, JUST_IN_TIME)
    assert plan.changes[:3] == ((BELL + 60 - 360, 4), (BELL + 60 - 180, 8), (BELL + 3600, 4))


def test_a_gap_shorter_than_lead_and_start_is_kept_up() -> None:
    def plan(gap_s: float) -> Steps:
        return wanted(summed([replicas(4), replicas(2, BELL + 3600.0 + gap_s)]), RULES, HALF_AN_HOUR)

    kept_up = ((BELL - 1800.0, 4), (BELL + 3600.0, 2))
    assert plan(1800.0).changes[:2] == kept_up
    assert plan(1800.0 + 179.0).changes[:2] == kept_up
    assert plan(1800.0 + 180.0).changes[1] == (BELL + 3600.0, 0)


def test_the_minimum_is_always_wanted() -> None:
    plan = wanted(summed([replicas(4)]), replace(RULES, minimum=3), HALF_AN_HOUR)
    assert plan == Steps(((BELL - 1800.0, 4), (BELL + 3600.0, 3)), before=3)
    assert wanted(Steps(), RULES, HALF_AN_HOUR) == Steps()


def test_a_pool_that_is_too_small_says_so_and_when() -> None:
    seats = summed([Block(0.0, 20.0, 30), Block(10.0, 20.0, 30)])
    (short,) = shortages(seats, replace(RULES, maximum=4, reserve=1))
    assert short == Shortage(10.0, 20.0, needs=6, allows=4)
    assert str(short) == "needs 6 replicas, the pool allows 4"
    assert shortages(seats, replace(RULES, maximum=6, reserve=1)) == ()


# ------------------------------------------------------------------ properties

CLASSES = st.lists(
    st.builds(
        lambda begins, length, count: Block(begins * 30.0, (begins + length) * 30.0, count),
        st.integers(0, 200),
        st.integers(1, 60),
        st.integers(1, 12),
    ),
    max_size=6,
)
LEADS = st.builds(
    lambda start, spare, ahead: Lead(start * 30.0, start * (1 + spare) * 30.0, max(start * (1 + spare), ahead) * 30.0),
    st.integers(1, 12),
    st.integers(0, 2),
    st.integers(0, 40),
)
POOLS = st.builds(lambda starts: replace(RULES, maximum=200, starts_at_once=starts), st.integers(1, 5))
MOMENTS = [moment * 15.0 for moment in range(-300, 550)]


@given(CLASSES, LEADS, POOLS)
def test_the_plan_is_the_formula_with_its_short_dips_filled(
    classes: list[Block], ahead: Lead, rules: PoolRules
) -> None:
    """The most, over all later moments, of what they need less what can be begun until then; all on half minutes."""
    needed = summed(classes)
    plan = wanted(needed, rules, ahead)
    coming = [block for block in needed.blocks() if block.height]

    def later(x: float) -> int:
        return 0 if x <= ahead.ahead_s else rules.starts_at_once * ceil((x - ahead.last_s) / ahead.start_s)

    @cache
    def formula(step: int) -> int:
        now = step * 30.0
        return max((b.height - later(max(0.0, b.begins - now)) for b in coming if b.ends > now), default=0)

    def full(step: int) -> int:
        gap = round(ahead.start_s / 30.0)
        edges = ((left, left + width) for width in range(1, gap + 1) for left in range(step - width + 1, step))
        return max(0, formula(step), *(min(formula(left), formula(right)) for left, right in edges if right > step))

    assert all(plan.at(step * 30.0) == full(step) for step in range(-110, 280, 3))


@given(CLASSES, LEADS, POOLS)
def test_starts_as_slow_as_planned_are_all_warm_at_every_bell(
    classes: list[Block], ahead: Lead, rules: PoolRules
) -> None:
    """A backend that carries so many starts at once, played through second by second in steps of half a minute."""
    needed = summed(classes)
    plan = wanted(needed, rules, ahead)
    ready, coming = 0, list[float]()
    for step in range(-400, 300):
        now = step * 30.0
        ready += sum(done <= now for done in coming)
        coming = [done for done in coming if done > now]
        ready = min(ready, max(0, plan.at(now) - len(coming)))
        begun = max(0, min(plan.at(now) - ready - len(coming), rules.starts_at_once - len(coming)))
        coming += [now + ahead.start_s] * begun
        assert ready >= needed.at(now)


@given(CLASSES, CLASSES, LEADS, POOLS)
def test_more_demand_never_wants_fewer_replicas(
    classes: list[Block], others: list[Block], ahead: Lead, rules: PoolRules
) -> None:
    less, more = wanted(summed(classes), rules, ahead), wanted(summed([*classes, *others]), rules, ahead)
    assert all(more.at(moment) >= less.at(moment) for moment in MOMENTS)


@given(CLASSES, LEADS, POOLS)
def test_no_replica_is_stopped_to_be_wanted_back_within_a_start(
    classes: list[Block], ahead: Lead, rules: PoolRules
) -> None:
    blocks = list(wanted(summed(classes), rules, ahead).blocks())
    for left, dip, right in zip(blocks, blocks[1:], blocks[2:], strict=False):
        if dip.height < min(left.height, right.height):
            assert dip.ends - dip.begins >= ahead.start_s


@given(CLASSES, LEADS, POOLS)
def test_the_plan_rises_only_for_bells_and_falls_only_at_ends(
    classes: list[Block], ahead: Lead, rules: PoolRules
) -> None:
    plan = wanted(summed(classes), rules, ahead)
    ends = {block.ends for block in classes}
    heights = [plan.before, *(height for _, height in plan.changes)]
    falls = [moment for (moment, height), last in zip(plan.changes, heights, strict=False) if height < last]
    assert set(falls) <= ends


@given(
    st.lists(st.tuples(st.integers(-4, 40), st.integers(0, 200)), max_size=6),
    st.integers(1, 4),
    st.floats(0, 7200),
)
def test_only_bells_within_reach_have_a_say(classes: list[tuple[int, int]], starts_at_once: int, lead_s: float) -> None:
    rules = PoolRules(seats_per_replica=10, maximum=20, starts_at_once=starts_at_once, lead_s=lead_s)
    ahead = lead(rules, None)
    seats = [Block(15 * MINUTE * quarter, 15 * MINUTE * (quarter + 4), count) for quarter, count in classes]
    near = [block for block in seats if block.begins < reach_s(rules, ahead)]
    plan, cut = (wanted(need(summed(some), rules), rules, ahead) for some in (seats, near))
    assert plan.at(-1.0) == cut.at(-1.0)
