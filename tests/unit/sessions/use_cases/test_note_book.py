"""A note finds its place, or is told that another one has it."""

from collections import Counter

import pytest

from sessions.domain.note import NoteMaker
from sessions.errors import SessionMoved
from sessions.use_cases.note_book import CompactionOutcome, NoteBook, NoteDraft
from tests.support.stage import staged

DRAFT = NoteDraft(1, 10, "They talked.", 2, NoteMaker.TUTOR, CompactionOutcome.FOLDED)


async def test_a_note_is_numbered_and_told_to_the_outbox_without_its_words() -> None:
    stage, told = await staged(), list[CompactionOutcome]()
    book = NoteBook(records=stage.records, clock=stage.clock, told=told.append)
    note = await book.add(stage.session, DRAFT)
    assert (note.seq, note.from_turn, note.to_turn, note.text, note.tokens) == (1, 1, 10, "They talked.", 2)
    assert (note.session_version, note.made_by) == (stage.session.version, NoteMaker.TUTOR)
    async with stage.records.begin() as work:
        assert list(await work.notes.all(stage.session.id)) == [note]
        entry = (await work.outbox.pending(limit=9))[-1]
    assert (entry.kind, entry.facts) == (
        "session.note",
        {"note": 1, "from_turn": 1, "to_turn": 10, "made_by": NoteMaker.TUTOR},
    )
    assert "talked" not in repr(entry)
    assert told == [CompactionOutcome.FOLDED]


async def test_a_note_that_comes_second_is_refused_with_its_entry_and_counted() -> None:
    stage, told = await staged(), Counter[CompactionOutcome]()
    book = NoteBook(records=stage.records, clock=stage.clock, told=lambda outcome: told.update([outcome]))
    await book.add(stage.session, DRAFT)
    with pytest.raises(SessionMoved):
        await book.add(stage.session, DRAFT)
    assert told == {CompactionOutcome.FOLDED: 1, CompactionOutcome.OVERTAKEN: 1}
    async with stage.records.begin() as work:
        kinds = [entry.kind for entry in await work.outbox.pending(limit=9)]
    assert kinds == ["session.started", "session.note"]
