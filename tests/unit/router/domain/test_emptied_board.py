"""Replicas that were added by order outlive a board that was emptied, until they are added again or long enough."""

from dataclasses import replace

import pytest

from router.domain.board import Board, RouterId, RouterReport
from router.domain.emptied_board import NOTHING, REMEMBERED_S, is_emptied, recalled, remembered
from router.domain.fleet import ReplicaId, ReplicaSpec

ME, OTHER = RouterId("me"), RouterId("other")
A, B = ReplicaSpec(ReplicaId("a"), "http://a"), ReplicaSpec(ReplicaId("b"), "http://b")
BEFORE = Board(now=100.0, added=(A, B), routers={ME: RouterReport(ME, 99.0)})
EMPTY = Board(now=101.0)


@pytest.mark.parametrize(
    ("board", "before", "emptied"),
    [
        (EMPTY, BEFORE, True),
        (replace(EMPTY, routers={OTHER: RouterReport(OTHER, 101.0)}), BEFORE, True),
        (replace(EMPTY, routers={ME: RouterReport(ME, 100.5)}), BEFORE, False),
        (replace(EMPTY, added=(A,)), BEFORE, False),
        (EMPTY, replace(BEFORE, added=()), False),
    ],
)
def test_a_board_was_emptied_where_our_report_is_gone_with_the_replicas(
    board: Board, before: Board, emptied: bool
) -> None:
    assert is_emptied(board, before, ME) is emptied


def test_nothing_is_recalled_of_nothing() -> None:
    assert recalled(BEFORE, NOTHING) == (BEFORE, NOTHING)


def test_replicas_go_on_until_their_time_is_over() -> None:
    memory = remembered(BEFORE, now=EMPTY.now)
    last = replace(EMPTY, now=EMPTY.now + REMEMBERED_S - 0.1)
    for board in (EMPTY, last):
        shown, memory = recalled(board, memory)
        assert shown == replace(board, added=(A, B))
    over = replace(EMPTY, now=EMPTY.now + REMEMBERED_S)
    shown, memory = recalled(over, memory)
    assert (shown, dict(memory.added)) == (over, {})


def test_one_that_was_added_again_is_the_boards_alone() -> None:
    moved = replace(A, url="http://elsewhere")
    shown, memory = recalled(replace(EMPTY, added=(moved,)), remembered(BEFORE, now=EMPTY.now))
    assert shown.added == (moved, B)
    shown, _ = recalled(EMPTY, memory)
    assert shown.added == (B,)


def test_one_that_was_removed_is_gone() -> None:
    shown, memory = recalled(replace(EMPTY, removed=frozenset({A.id})), remembered(BEFORE, now=EMPTY.now))
    assert shown.added == (B,)
    assert set(memory.added) == {B.id}
