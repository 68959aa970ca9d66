"""Folds are rare, deep, contiguous, and leave what fits."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.compaction import (
    Fold,
    Marks,
    Merge,
    Tail,
    TailTurn,
    due,
    may_try_again,
    merge_due,
    note_limit,
    outgrown,
    overdue,
)
from sessions.domain.note import Note, NoteMaker
from tests.support.folded_sessions import PINNED, ROOM, FoldedSession
from tests.support.records_world import NOON, turn

MARKS = Marks()

sizes = st.lists(st.tuples(st.integers(1, 700), st.one_of(st.just(0), st.integers(1, 256))), max_size=70)
small = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60)), max_size=90)
rooms = st.integers(PINNED + 1000, PINNED + 8000)


def a_tail(*turns: int, room: int = 1000, bridge: int = 0, first: int = 1) -> Tail:
    """Turns of these sizes, all of it in the message."""
    shown = tuple(TailTurn(number, size, 0, 0) for number, size in enumerate(turns, start=first))
    return Tail(first, first + len(turns) - 1, shown, room, 0, bridge=bridge)


def a_note(seq: int, tokens: int) -> Note:
    return Note(turn(1).session, seq, 10 * seq - 9, 10 * seq, "n", tokens, NoteMaker.TUTOR, 1, NOON)


def test_a_talk_with_room_is_left_alone() -> None:
    assert due(a_tail(), MARKS) is None
    assert due(a_tail(*[10] * 29), MARKS) is None
    assert overdue(a_tail(*[10] * 29), MARKS, 100) is None


def test_at_the_high_mark_the_tail_shrinks_to_the_low_one() -> None:
    assert due(a_tail(*[10] * 30), MARKS) == Fold(1, 10)
    assert due(a_tail(*[10] * 30, first=11), MARKS) == Fold(11, 20)


def test_the_last_fold_is_saved_where_the_few_turns_that_may_still_come_fit() -> None:
    assert due(a_tail(*[10] * 30), MARKS, left=10) is None
    assert due(a_tail(*[10] * 30), MARKS, left=11) == Fold(1, 10)
    assert due(a_tail(*[10] * 35), MARKS, left=5) is None
    # Thirty turns of 24, ten more of them, and one message of 24 once more.
    assert due(a_tail(*[24] * 30, room=984), MARKS, left=10) is None
    assert due(a_tail(*[24] * 30, room=983), MARKS, left=10) == Fold(1, 10)


def test_a_tail_without_room_is_folded_however_few_turns_are_left() -> None:
    assert due(a_tail(*[100] * 10), MARKS, left=1) == Fold(1, 5)
    assert due(a_tail(), MARKS, left=1) is None


def test_a_tail_that_forces_it_shrinks_to_half_of_the_room() -> None:
    # Ten turns of 100 fill the room of 1000; five of them and the bridge, here of no size, are half of it.
    assert due(a_tail(*[100] * 10), MARKS) == Fold(1, 5)


def test_what_the_next_message_may_need_is_the_longest_of_the_last_ten() -> None:
    assert a_tail(400, *[20] * 10).likely_message == 62
    assert a_tail(400, *[20] * 9).likely_message == 400
    assert a_tail(*[20] * 9).likely_message == 62
    assert due(a_tail(*[95] * 9, 60), MARKS) is not None


def test_twenty_turns_that_take_two_thirds_of_the_room_are_never_touched_in_think_time() -> None:
    assert due(a_tail(*[33] * 19, 380, room=1000), Marks(low=20, high=30)) == Fold(1, 16)  # more than two thirds
    assert due(a_tail(*[15] * 19, 380, room=1000), Marks(low=20, high=30)) is None
    assert overdue(a_tail(*[15] * 19, 380, room=1000), MARKS, 400) == Fold(1, 11)


def test_a_shallow_fold_waits() -> None:
    assert due(a_tail(*[14] * 21, 380, room=1030), MARKS) is None
    assert due(a_tail(*[14] * 24, 380, room=1030), MARKS) == Fold(1, 5)


def test_an_overdue_fold_keeps_the_low_mark_where_the_message_then_fits() -> None:
    assert overdue(a_tail(*[30] * 28), MARKS, 200) == Fold(1, 8)
    assert overdue(a_tail(*[30] * 28), MARKS, 450) == Fold(1, 12)


def test_a_huge_turn_stays_alone_where_it_can_and_goes_where_it_cannot() -> None:
    assert due(a_tail(700), MARKS) == Fold(1, 1)  # another one like it would not fit
    assert overdue(a_tail(100, 700), MARKS, 250) == Fold(1, 1)
    assert overdue(a_tail(100, 700), MARKS, 400) == Fold(1, 2)


def test_a_message_that_never_fits_folds_nothing() -> None:
    assert overdue(a_tail(100, 200), MARKS, 1001) is None


def test_turns_that_the_tutor_is_not_shown_go_with_those_that_it_is() -> None:
    shown = tuple(TailTurn(number, 10, 0, 0) for number in range(3, 90, 3))
    tail = Tail(1, 92, (*shown, TailTurn(90, 10, 0, 0)), 1000, 0)
    assert due(tail, MARKS) == Fold(1, 32)
    assert due(Tail(1, 40, (), 1000, 0), MARKS) is None
    assert overdue(Tail(1, 4, (TailTurn(2, 600, 0, 0),), 1000, 0), MARKS, 900) == Fold(1, 4)


def test_where_there_is_nothing_to_fold_nothing_is() -> None:
    assert due(a_tail(room=1000, bridge=990), MARKS) is None


def test_the_bridge_and_a_change_of_scene_take_room() -> None:
    first, second = TailTurn(1, 10, 5, pinned=100), TailTurn(2, 20, 7, pinned=300, change=50)
    tail = Tail(1, 2, (first, second), room=1000, pinned=400, change=60, bridge=9)
    assert tail.used(0) == 9 + 15 + 27 + 50 + 60
    assert tail.used(1) == 5 + 27 + 60
    assert tail.used(2) == 7
    assert [tail.free(start) for start in range(3)] == [900, 700, 600]


@given(sizes, rooms)
def test_folds_are_contiguous_and_what_stays_fits(talk: list[tuple[int, int]], room: int) -> None:
    played = FoldedSession(talk, room=room).play()
    folds = [fold for _, fold in played.folds]
    assert all(before.to_turn + 1 == after.from_turn for before, after in pairwise(folds))
    assert all(fold.from_turn <= fold.to_turn <= turns for turns, fold in played.folds)
    assert folds == [] or folds[0].from_turn == 1
    # The room is larger than any message with a reply before it.
    assert played.refused == 0


@given(small)
def test_the_low_mark_stays_word_for_word_where_the_room_is_large(talk: list[tuple[int, int]]) -> None:
    played = FoldedSession(talk).play()
    for turns, fold in played.folds:
        shown = [n for n, (_, reply) in enumerate(talk[:turns], 1) if reply]
        latest = shown[-MARKS.low :]
        roomy = 3 * (sum(sum(talk[n - 1]) for n in latest) + 60) <= 2 * (ROOM - PINNED)
        assert not roomy or sum(n > fold.to_turn for n in shown) >= min(MARKS.low, len(shown))
    assert played.forced == 0


@pytest.mark.parametrize("turn_tokens", range(40, 170, 10))
def test_what_folds_cost_the_cache_is_about_the_talk_once_more(turn_tokens: int) -> None:
    """A tail that slides turn by turn makes the replica read the talk ten times more."""
    talk = [(turn_tokens // 3, turn_tokens - turn_tokens // 3)] * 50
    played = FoldedSession(talk).play()
    assert (played.forced, played.refused) == (0, 0)
    assert played.prefilled_again <= 1.15 * 50 * turn_tokens
    kept = min(20, (ROOM - PINNED) // turn_tokens)
    slid = (50 - kept) * kept * turn_tokens
    assert played.prefilled_again <= slid / 5


@given(sizes)
def test_the_plan_of_a_moment_depends_on_that_moment_alone(talk: list[tuple[int, int]]) -> None:
    half = FoldedSession(talk[: len(talk) // 2]).play().folds
    whole = FoldedSession(talk).play().folds
    assert whole[: len(half)] == half


def test_notes_are_merged_when_one_more_has_no_room() -> None:
    assert merge_due([], note_tokens=160, share=480) is None
    assert merge_due([a_note(1, 160), a_note(2, 160)], note_tokens=160, share=480) is None
    three = [a_note(1, 160), a_note(2, 160), a_note(3, 160)]
    assert merge_due(three, note_tokens=160, share=480) == Merge(1, 20)
    assert merge_due([a_note(1, 480)], note_tokens=160, share=480) is None


def test_as_many_notes_are_merged_as_it_takes() -> None:
    four = [a_note(seq, 160) for seq in range(1, 5)]
    assert merge_due(four, note_tokens=160, share=480) == Merge(1, 30)
    assert merge_due([a_note(1, 160), a_note(2, 160)], note_tokens=160, share=330) == Merge(1, 20)
    assert outgrown(four, note_tokens=1, share=640)
    assert not outgrown(four, note_tokens=1, share=641)


def test_a_note_that_replaces_none_has_its_usual_size() -> None:
    assert note_limit([], Fold(1, 10), note_tokens=160, share=480) == 160
    assert note_limit([a_note(1, 20)], Fold(11, 20), note_tokens=160, share=480) == 160


def test_a_fold_that_replaces_notes_takes_what_is_left_with_room_for_one_more() -> None:
    three = [a_note(1, 160), a_note(2, 160), a_note(3, 160)]
    assert note_limit(three, Fold(1, 50), note_tokens=160, share=480) == 320
    assert note_limit(three, Fold(1, 20), note_tokens=160, share=480) == 160
    assert note_limit(three, Fold(1, 20), note_tokens=160, share=400) == 160
    assert note_limit([a_note(1, 160), a_note(2, 40)], Fold(1, 10), note_tokens=160, share=480) == 280


def test_a_merge_takes_what_is_left_where_the_next_note_makes_another_one_due_anyhow() -> None:
    notes = [a_note(1, 160), a_note(2, 160), a_note(3, 120)]
    assert note_limit(notes, Merge(1, 20), note_tokens=160, share=480) == 200
    assert note_limit(notes, Merge(1, 30), note_tokens=160, share=480) == 200
    # Two more notes of 160 fit behind one of 160, and only one behind a larger one.
    assert note_limit([a_note(1, 160), a_note(2, 160)], Merge(1, 20), note_tokens=160, share=480) == 160
    assert note_limit([a_note(1, 160), a_note(2, 160)], Merge(1, 20), note_tokens=160, share=479) == 319
    assert note_limit([a_note(1, 160), a_note(2, 160)], Merge(1, 20), note_tokens=160, share=600) == 280


def test_a_merge_takes_no_less_than_the_largest_of_the_notes_it_replaces() -> None:
    assert note_limit([a_note(1, 320), a_note(2, 160)], Merge(1, 20), note_tokens=160, share=480) == 320
    assert note_limit([a_note(1, 240), a_note(2, 160)], Merge(1, 20), note_tokens=160, share=480) == 240
    assert note_limit([a_note(1, 400), a_note(2, 160)], Merge(1, 20), note_tokens=160, share=480) == 320


@given(st.integers(1, 400), st.lists(st.integers(1, 160), min_size=1, max_size=8), st.integers(320, 900), st.booleans())
def test_notes_keep_to_their_share_and_the_next_one_has_room(
    first: int, sizes: list[int], share: int, folds: bool
) -> None:
    """`first` is the size of the oldest one, which may have replaced others already."""
    notes = [a_note(seq, size) for seq, size in enumerate([first, *sizes], start=1)]
    span: Fold | Merge | None = Fold(1, 100) if folds else merge_due(notes, note_tokens=160, share=share)
    if span is None:
        return
    kept = [note for note in notes if note.from_turn > span.to_turn]
    limit = note_limit(notes, span, note_tokens=160, share=share)
    assert limit >= 160
    assert not outgrown([a_note(1, limit), *kept], note_tokens=160, share=share)


@given(st.lists(st.integers(1, 160), min_size=2, max_size=8), st.integers(320, 900))
def test_larger_merged_notes_make_merges_no_more_frequent(sizes: list[int], share: int) -> None:
    notes = [a_note(seq, size) for seq, size in enumerate(sizes, start=1)]
    merge = merge_due(notes, note_tokens=160, share=share)
    if merge is None:
        return
    behind = [note for note in notes if note.from_turn > merge.to_turn] + [a_note(9, sizes[-1])]
    limit = note_limit(notes, merge, note_tokens=160, share=share)
    usual = outgrown([a_note(1, 160), *behind], note_tokens=160, share=share)
    assert outgrown([a_note(1, limit), *behind], note_tokens=160, share=share) is usual


def test_after_an_attempt_that_failed_the_tail_grows_by_three_turns() -> None:
    assert not may_try_again(range(1, 31), failed_at=30)
    assert not may_try_again(range(1, 33), failed_at=30)
    assert may_try_again(range(1, 34), failed_at=30)
    assert not may_try_again([1, 2, 32, 35], failed_at=30)
    assert may_try_again([], failed_at=30) is False
