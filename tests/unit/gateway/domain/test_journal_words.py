"""What is written for other processes is read as it was; what is none of ours is refused."""

import json
from dataclasses import replace
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.journal import Cancel, Head, Leave, Letter, News, Passage, Place, Watch, told
from gateway.domain.journal_words import (
    Unreadable,
    read_end,
    read_head,
    read_letter,
    written_end,
    written_head,
    written_letter,
)
from sessions.domain.citation import Citation, DocumentId
from sessions.domain.events import Blocked, Cancelled, Done, Failed, Terminal
from sessions.domain.moderation import Action, BlockReason, Direction, Judgement, Mark, Source
from sessions.domain.session import SessionId
from sessions.domain.turn import IdempotencyKey, TurnError
from tests.support.records_world import turn

SESSION = SessionId(uuid4())
HEAD = Head(SESSION, 3, "attempt", "here", "r1", "new", IdempotencyKey("k", "d"))
PLACE = Place(SESSION, 3, "attempt", 17)
CITED = replace(turn(), citations=(Citation(DocumentId(uuid4()), "handbook.pdf", 12, "Returns", 3.5),))
MARKED = replace(turn(), moderation=Judgement((Mark(Direction.OUTPUT, Source.PHRASE, "r1", "c", 3, Action.MASK),)))
ENDS: list[Terminal] = [
    told(Done(CITED)),
    told(Done(MARKED)),
    Cancelled(),
    *(Blocked(reason) for reason in BlockReason),
    Failed(TurnError("turn_lost", "gone", retryable=True)),
]
LETTERS: list[Letter] = [
    Watch("there", (PLACE,)),
    Leave("there", (PLACE, PLACE)),
    Cancel(SESSION, 3, "attempt"),
    News(tuple(Passage(SESSION, 3, "attempt", 2, "您好", end) for end in (None, *ENDS))),
]


@pytest.mark.parametrize("head", [HEAD, replace(HEAD, replica=None, pin=None, idempotency=None)])
def test_a_head_is_read_as_it_was_written(head: Head) -> None:
    assert read_head(written_head(head)) == head


@pytest.mark.parametrize("end", ENDS)
def test_an_end_is_read_as_it_was_written(end: Terminal) -> None:
    assert read_end(written_end(end)) == end


def test_an_end_of_an_older_version_is_read() -> None:
    written = json.loads(written_end(told(Done(CITED))))
    del written["reason"], written["turn"]["moderation"]
    assert read_end(json.dumps(written).encode()) == told(Done(CITED))


@pytest.mark.parametrize("letter", LETTERS)
def test_a_letter_is_read_as_it_was_written(letter: Letter) -> None:
    assert read_letter(written_letter(letter)) == letter


@given(text=st.text())
def test_any_text_can_be_told(text: str) -> None:
    letter = News((Passage(SESSION, 1, "a", len(text), text, None),))
    assert read_letter(written_letter(letter)) == letter


@given(written=st.binary(max_size=40))
def test_what_is_not_ours_is_refused(written: bytes) -> None:
    for read in (read_head, read_end, read_letter):
        with pytest.raises(Unreadable):
            read(written)


@pytest.mark.parametrize(
    "written",
    [b'{"kind":"song"}', b'{"kind":"cancel"}', b'{"kind":"news","passages":[{}]}', b'{"kind":"watch","sender":1}'],
)
def test_a_letter_of_another_kind_is_refused(written: bytes) -> None:
    with pytest.raises(Unreadable):
        read_letter(written)


@pytest.mark.parametrize("written", [b'{"kind":"done"}', b'{"kind":"failed"}', b'{"kind":"later"}'])
def test_an_end_of_another_kind_is_refused(written: bytes) -> None:
    with pytest.raises(Unreadable):
        read_end(written)


def test_a_neighbouring_version_may_say_more() -> None:
    assert read_head(written_head(HEAD)[:-1] + b',"more":[1]}') == HEAD
