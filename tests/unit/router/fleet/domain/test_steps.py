"""Numbers over time: they add up, the highest wins, and dips are filled."""

from itertools import pairwise
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.steps import Block, Steps, filled, highest, summed

BLOCKS = st.lists(
    st.builds(
        lambda begins, length, height: Block(float(begins), float(begins + length), height),
        st.integers(0, 60),
        st.integers(0, 20),
        st.integers(0, 5),
    ),
    max_size=8,
)
MOMENTS = [moment / 2 for moment in range(-4, 200)]
GAPS = st.integers(0, 30).map(float)


def holding(blocks: list[Block], moment: float) -> list[int]:
    return [block.height for block in blocks if block.begins <= moment < block.ends]


@given(BLOCKS)
def test_a_sum_is_at_each_moment_that_of_the_blocks_that_hold(blocks: list[Block]) -> None:
    assert [summed(blocks).at(moment) for moment in MOMENTS] == [sum(holding(blocks, moment)) for moment in MOMENTS]


@given(BLOCKS)
def test_the_highest_block_that_holds_wins(blocks: list[Block]) -> None:
    by_hand = [max(holding(blocks, moment), default=0) for moment in MOMENTS]
    assert [highest(blocks).at(moment) for moment in MOMENTS] == by_hand


@given(BLOCKS)
def test_equal_functions_are_equal_values(blocks: list[Block]) -> None:
    steps = summed(blocks)
    assert summed(steps.blocks()) == highest(steps.blocks()) == steps
    assert steps.mapped(lambda height: height) == steps
    numbers = [steps.before, *(height for _, height in steps.changes)]
    assert all(before != after for before, after in pairwise(numbers))


def test_a_block_of_no_length_adds_nothing() -> None:
    assert summed([Block(1.0, 1.0, 5)]) == highest([Block(2.0, 1.0, 5)]) == Steps()


def test_what_holds_before_the_first_change_is_kept() -> None:
    raised = summed([Block(1.0, 2.0, 3)]).mapped(lambda height: max(height, 2))
    assert raised == Steps(((1.0, 3), (2.0, 2)), before=2)
    assert [block.begins for block in raised.blocks()] == [-inf, 1.0, 2.0]
    assert summed(raised.blocks()) == raised
    assert raised.at(0.0) == 2


def test_a_span_is_cut_out_measured_and_searched() -> None:
    steps = summed([Block(10.0, 20.0, 2), Block(15.0, 30.0, 1)])
    assert list(steps.between(12.0, 16.0)) == [Block(12.0, 15.0, 2), Block(15.0, 16.0, 3)]
    assert steps.area(0.0, 40.0) == 2 * 10 + 15
    assert steps.peak(0.0, 40.0) == Block(15.0, 20.0, 3)
    assert steps.peak(50.0, 60.0) == Block(50.0, 60.0, 0)


def test_of_two_equal_peaks_the_earlier_one_is_told() -> None:
    assert summed([Block(1.0, 2.0, 1), Block(3.0, 4.0, 1)]).peak(0.0, 9.0).begins == 1.0


def test_a_dip_shorter_than_the_gap_is_filled_up_to_its_lower_edge() -> None:
    steps = summed([Block(0.0, 10.0, 5), Block(14.0, 20.0, 3)])
    assert filled(steps, gap_s=4.1) == summed([Block(0.0, 10.0, 5), Block(10.0, 20.0, 3)])
    assert filled(steps, gap_s=4.0) == steps


def test_a_dip_within_a_dip_is_filled_step_by_step() -> None:
    steps = summed([Block(0.0, 10.0, 5), Block(12.0, 13.0, 1), Block(15.0, 20.0, 4)])
    assert filled(steps, gap_s=3.0) == summed([Block(0.0, 10.0, 5), Block(10.0, 15.0, 1), Block(15.0, 20.0, 4)])
    assert filled(steps, gap_s=5.5) == summed([Block(0.0, 10.0, 5), Block(10.0, 20.0, 4)])


@given(BLOCKS, GAPS)
def test_filling_never_lowers_and_leaves_nothing_to_fill(blocks: list[Block], gap_s: float) -> None:
    steps = summed(blocks)
    full = filled(steps, gap_s=gap_s)
    assert all(full.at(moment) >= steps.at(moment) for moment in MOMENTS)
    assert filled(full, gap_s=gap_s) == full


@given(BLOCKS, BLOCKS, GAPS)
def test_more_is_never_filled_to_less(blocks: list[Block], others: list[Block], gap_s: float) -> None:
    less, more = filled(summed(blocks), gap_s=gap_s), filled(summed([*blocks, *others]), gap_s=gap_s)
    assert all(more.at(moment) >= less.at(moment) for moment in MOMENTS)
