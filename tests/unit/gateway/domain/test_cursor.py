import base64
from contextlib import suppress
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.cursor import read_moment, read_number, read_turn, written_moment, written_number, written_turn
from gateway.errors import FieldInvalid
from sessions.domain.page import Cursor
from sessions.domain.review import ReviewPlace
from sessions.domain.session import SessionId

SOME = UUID("5a0f3a3e-0d6a-4a55-8f3e-0d3f6f0a7c11")
"""Fixed, since it becomes part of tests' names."""

MOMENTS = st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(5000, 1, 1)).map(  # noqa: DTZ001
    lambda moment: moment.replace(tzinfo=UTC)
)


@given(MOMENTS, st.uuids())
def test_a_moment_comes_back_to_the_microsecond(at: datetime, identity: UUID) -> None:
    assert read_moment(written_moment(Cursor(at, identity))) == Cursor(at, identity)


@given(st.integers(min_value=1, max_value=999_999_999))
def test_a_number_comes_back(number: int) -> None:
    assert read_number(written_number(number)) == number


@given(MOMENTS, st.uuids(), st.integers(min_value=1, max_value=999_999_999))
def test_a_turn_comes_back(at: datetime, session: UUID, number: int) -> None:
    place = ReviewPlace(at, SessionId(session), number)
    assert read_turn(written_turn(place)) == place


def encoded(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "text",
    [
        *("", "a", "!!!!", "ä", "A" * 129, "\x00", encoded("n.1") + "=", encoded("n.1") + "\n"),
        *(encoded(place) for place in ("n.0", "n.01", "n.-1", "n.9999999999", "n.1 ", "x.1", "n.٣", "ü")),
        *(encoded(place) for place in ("m.1", f"m.1.{SOME}", f"m.{'9' * 18}.{SOME.hex}", f"m.-1.{SOME.hex}")),
        *(encoded(place) for place in ("t.1", f"t.1.{SOME.hex}", f"t.1.{SOME.hex}.0", f"t.1.{SOME.hex}.1.1")),
        base64.urlsafe_b64encode(b"\xff\xfe\xfd").decode(),
    ],
)
def test_what_was_not_written_here_is_refused(text: str) -> None:
    for read in (read_moment, read_number, read_turn):
        with pytest.raises(FieldInvalid) as caught:
            read(text)
        assert caught.value.field == "cursor"


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_in_our_words(text: str) -> None:
    for read in (read_moment, read_number, read_turn):
        with suppress(FieldInvalid):
            read(text)


def test_the_cursor_of_one_list_is_none_of_another() -> None:
    with pytest.raises(FieldInvalid):
        read_number(written_moment(Cursor(datetime(2026, 1, 1, tzinfo=UTC), uuid4())))
    with pytest.raises(FieldInvalid):
        read_moment(written_number(3))
    for text in (written_number(3), written_moment(Cursor(datetime(2026, 1, 1, tzinfo=UTC), uuid4()))):
        with pytest.raises(FieldInvalid):
            read_turn(text)
