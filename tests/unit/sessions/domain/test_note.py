"""Which notes count, and how far they reach."""

from hypothesis import given
from hypothesis import strategies as st

from sessions.domain.note import Note, NoteMaker, folded_to, live_notes
from tests.support.records_world import NOON, turn


def a_note(seq: int, from_turn: int, to_turn: int) -> Note:
    return Note(turn(1).session, seq, from_turn, to_turn, f"note {seq}", 2, NoteMaker.EXTRACT, 1, NOON)


def test_without_notes_nothing_is_folded() -> None:
    assert live_notes([]) == ()
    assert folded_to(()) == 0


def test_notes_stand_by_their_turns_and_reach_as_far_as_the_last() -> None:
    notes = [a_note(2, 11, 20), a_note(1, 1, 10)]
    assert [note.seq for note in live_notes(notes)] == [1, 2]
    assert folded_to(live_notes(notes)) == 20


def test_a_later_note_replaces_those_whose_turns_it_covers() -> None:
    notes = [a_note(1, 1, 10), a_note(2, 11, 20), a_note(3, 21, 30), a_note(4, 1, 20)]
    assert [note.seq for note in live_notes(notes)] == [4, 3]
    assert [note.seq for note in live_notes([*notes, a_note(5, 1, 40)])] == [5]


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=12))
def test_live_notes_cover_every_turn_once(steps: list[tuple[bool, int]]) -> None:
    notes: list[Note] = []
    reached = 0
    for seq, (whole, length) in enumerate(steps, start=1):
        notes.append(a_note(seq, 1 if whole else reached + 1, reached + length))
        reached += length
    live = live_notes(notes)
    assert [turn for note in live for turn in range(note.from_turn, note.to_turn + 1)] == list(range(1, reached + 1))
    assert folded_to(live) == reached
