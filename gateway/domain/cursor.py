"""How the place after which a page begins is written for callers: opaque to them, checked when it comes back."""

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta
from uuid import UUID

from gateway.errors import FieldInvalid
from sessions.domain.page import Cursor
from sessions.domain.review import ReviewPlace
from sessions.domain.session import SessionId

MAX_CURSOR_CHARS = 128

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOMENT = re.compile(r"m\.(0|[1-9][0-9]{0,16})\.([0-9a-f]{32})")
_TURN = re.compile(r"t\.(0|[1-9][0-9]{0,16})\.([0-9a-f]{32})\.([1-9][0-9]{0,8})")
_NUMBER = re.compile(r"n\.([1-9][0-9]{0,8})")


def written_moment(cursor: Cursor) -> str:
    return _written(f"m.{_micros(cursor.at)}.{cursor.id.hex}")


def read_moment(text: str) -> Cursor:
    """Raises `FieldInvalid` for what was not written here."""
    match = _MOMENT.fullmatch(_read(text))
    if match is None:
        raise _unknown()
    return Cursor(_moment(match[1]), UUID(match[2]))


def written_number(number: int) -> str:
    return _written(f"n.{number}")


def read_number(text: str) -> int:
    """Raises `FieldInvalid` for what was not written here."""
    match = _NUMBER.fullmatch(_read(text))
    if match is None:
        raise _unknown()
    return int(match[1])


def written_turn(place: ReviewPlace) -> str:
    return _written(f"t.{_micros(place.at)}.{place.session.hex}.{place.turn}")


def read_turn(text: str) -> ReviewPlace:
    """Raises `FieldInvalid` for what was not written here."""
    match = _TURN.fullmatch(_read(text))
    if match is None:
        raise _unknown()
    return ReviewPlace(_moment(match[1]), SessionId(UUID(match[2])), int(match[3]))


def _micros(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


def _moment(micros: str) -> datetime:
    return _EPOCH + timedelta(microseconds=int(micros))


def _written(place: str) -> str:
    return base64.urlsafe_b64encode(place.encode()).decode().rstrip("=")


def _read(text: str) -> str:
    if len(text) > MAX_CURSOR_CHARS or not text.isascii():
        raise _unknown()
    try:
        place = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        raise _unknown() from None
    if _written(place) != text:
        raise _unknown()
    return place


def _unknown() -> FieldInvalid:
    return FieldInvalid("cursor", "this is no cursor of this list")
