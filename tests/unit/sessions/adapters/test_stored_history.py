"""A history becomes bytes and comes back the same, or not at all."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions.adapters.stored_history import FORMAT, MOST_BYTES, packed, packed_session, unpacked, unpacked_session
from sessions.domain.citation import Citation, DocumentId
from sessions.domain.history import History, history
from sessions.domain.moderation import Action, BlockReason, Direction, Judgement, Mark, Source
from sessions.domain.note import NoteMaker
from sessions.domain.tiers import Tier
from sessions.domain.turn import Timings, TurnError, TurnState, Usage
from tests.support.records_world import note, session, turn, uuid_of

SESSION = session().id
RICH = replace(
    turn(4, key="k"),
    state=TurnState.FAILED,
    usage=Usage(1, 2, 3),
    timings=Timings(1.5, None, 2.25),
    error=TurnError("tutor_broke", "it broke", retryable=True),
    scene="收尾",
    model="qwen",
    tier=Tier.SENSITIVE,
    fell_back=True,
    citations=(Citation(DocumentId(uuid_of("terms")), "条款.md", 3, "A > B", 7.25),),
    moderation=Judgement((Mark(Direction.OUTPUT, Source.GUARD, "s", "c", 4, Action.BLOCK),), BlockReason.UNSAFE),
)
HISTORY = history([note(1, to_turn=2), replace(note(2, from_turn=3, to_turn=3), made_by=NoteMaker.EXTRACT)], [
    turn(1), turn(2), turn(3), RICH, replace(turn(5), replica=None),
])  # fmt: skip


def test_everything_comes_back_as_it_was() -> None:
    data = packed(SESSION, HISTORY)
    assert data is not None
    assert unpacked(SESSION, data) == HISTORY
    assert unpacked(SESSION, packed(SESSION, History()) or b"") == History()


@given(st.text(), st.text())
def test_any_text_comes_back(text: str, reply: str) -> None:
    told = history([], [replace(turn(1), text=text, reply=reply)])
    assert unpacked(SESSION, packed(SESSION, told) or b"") == told


@given(st.data())
def test_bytes_that_were_cut_or_changed_are_no_error(data: st.DataObject) -> None:
    whole = packed(SESSION, HISTORY) or b""
    place = data.draw(st.integers(0, len(whole) - 1))
    assert unpacked(SESSION, whole[:place]) is None
    changed = bytearray(whole)
    changed[place] = data.draw(st.integers(0, 255))
    found = unpacked(SESSION, bytes(changed))
    assert found is None or isinstance(found, History)


@given(st.binary())
def test_noise_is_no_history(noise: bytes) -> None:
    assert unpacked(SESSION, noise) is None


def test_what_belongs_to_another_session_is_no_history_of_this_one() -> None:
    other = session("other")
    assert unpacked(SESSION, packed(other.id, history([], [turn(1, of=other)])) or b"") is None
    assert unpacked(SESSION, packed(SESSION, history([], [turn(1, of=other)])) or b"") is None
    assert unpacked(SESSION, packed(SESSION, history([note(1, of=other)], [])) or b"") is None


@pytest.mark.parametrize("number", [FORMAT - 1, FORMAT + 1])
def test_another_format_is_not_read(number: int) -> None:
    parts = msgspec.msgpack.decode(packed(SESSION, HISTORY) or b"")
    assert unpacked(SESSION, msgspec.msgpack.encode([number, *parts[1:]])) is None
    assert unpacked(SESSION, msgspec.msgpack.encode([FORMAT, *parts[1:]])) == HISTORY


def test_what_is_too_large_is_neither_written_nor_read() -> None:
    large = history([], [replace(turn(1), reply="x" * MOST_BYTES)])
    assert packed(SESSION, large) is None
    assert unpacked(SESSION, b"x" * (MOST_BYTES + 1)) is None


def test_nesting_without_end_is_no_error() -> None:
    assert unpacked(SESSION, b"\x91" * 100_000) is None


def test_a_row_comes_back_as_it_was_and_as_nothing_else() -> None:
    one, other = replace(session(), version=7, turn_count=5, note_count=1), session("other")
    assert unpacked_session(SESSION, packed_session(one)) == one
    assert unpacked_session(SESSION, packed_session(other)) is None
    for noise in (b"", b"\x91" * 100_000, packed_session(one)[:-1], packed(SESSION, HISTORY) or b""):
        assert unpacked_session(SESSION, noise) is None
