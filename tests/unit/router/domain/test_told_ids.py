"""Token ids over several answers."""

from hypothesis import given
from hypothesis import strategies as st

from router.domain.told_ids import ToldIds

IDS = st.lists(st.integers(0, 9), max_size=20)


def fed(told: ToldIds, ids: list[int], grain: int) -> list[int]:
    return [new for at in range(0, len(ids), grain) for new in told.feed(ids[at : at + grain])]


@given(IDS, st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=4), st.integers(1, 4))
def test_each_is_told_once_wherever_answers_break_off_and_go_on(
    ids: list[int], broken: list[tuple[int, int]], grain: int
) -> None:
    told, heard, begin = ToldIds(), list[int](), 0
    for end, back in [*broken, (len(ids), 0)]:
        heard += fed(told, ids[begin : max(begin, end)], grain)
        begin = max(0, min(len(heard), max(begin, end)) - back)
        told.go_on(begin)
    heard += fed(told, ids[begin:], grain)
    assert heard == ids


def test_an_answer_that_differs_is_told_from_there_on() -> None:
    told = ToldIds()
    assert list(told.feed([1, 2, 3])) == [1, 2, 3]
    told.go_on(1)
    assert list(told.feed([2, 4])) == [4]
    assert list(told.feed([5])) == [5]
    told.go_on(0)
    assert list(told.feed([1, 2, 4, 5, 6])) == [6]


def test_more_tokens_than_were_told_leave_no_gap() -> None:
    told = ToldIds()
    told.feed([1])
    told.go_on(5)
    assert list(told.feed([2])) == [2]
