"""Heads, terminal events and letters as bytes, for processes of the same or a neighbouring version."""

from dataclasses import dataclass
from typing import TypeVar, assert_never

import msgspec

from gateway.domain.journal import Cancel, Head, Leave, Letter, News, Passage, Place, Watch
from sessions.domain.events import Blocked, Cancelled, Done, Failed, Terminal
from sessions.domain.moderation import BlockReason
from sessions.domain.session import SessionId
from sessions.domain.turn import Turn, TurnError


class Unreadable(ValueError):
    """Not in our words."""


@dataclass(frozen=True, slots=True)
class _End:
    kind: str
    turn: Turn | None = None
    error: TurnError | None = None
    reason: BlockReason | None = None


@dataclass(frozen=True, slots=True)
class _Passage:
    session: SessionId
    turn: int
    attempt: str
    end: int
    text: str
    terminal: _End | None


@dataclass(frozen=True, slots=True)
class _Letter:
    kind: str
    sender: str = ""
    places: tuple[Place, ...] = ()
    passages: tuple[_Passage, ...] = ()


_T = TypeVar("_T")

_HEAD = msgspec.json.Decoder(Head)
_END = msgspec.json.Decoder(_End)
_LETTER = msgspec.json.Decoder(_Letter)


def written_head(head: Head) -> bytes:
    return msgspec.json.encode(head)


def read_head(written: bytes) -> Head:
    return _decoded(_HEAD, written)


def written_end(terminal: Terminal) -> bytes:
    return msgspec.json.encode(_end(terminal))


def read_end(written: bytes) -> Terminal:
    return _terminal(_decoded(_END, written))


def written_letter(letter: Letter) -> bytes:
    match letter:
        case Watch(sender, turns):
            plain = _Letter("watch", sender, turns)
        case Leave(sender, turns):
            plain = _Letter("leave", sender, turns)
        case Cancel(session, turn, attempt):
            plain = _Letter("cancel", places=(Place(session, turn, attempt, 0),))
        case News(passages):
            plain = _Letter("news", passages=tuple(_plain(passage) for passage in passages))
        case never:
            assert_never(never)
    return msgspec.json.encode(plain)


def read_letter(written: bytes) -> Letter:
    plain = _decoded(_LETTER, written)
    match plain.kind, plain.places:
        case "watch", places:
            return Watch(plain.sender, places)
        case "leave", places:
            return Leave(plain.sender, places)
        case "cancel", (place,):
            return Cancel(place.session, place.turn, place.attempt)
        case "news", _:
            return News(tuple(_passage(passage) for passage in plain.passages))
        case _:
            raise Unreadable


def _plain(passage: Passage) -> _Passage:
    end = None if passage.terminal is None else _end(passage.terminal)
    return _Passage(passage.session, passage.turn, passage.attempt, passage.end, passage.text, end)


def _passage(plain: _Passage) -> Passage:
    terminal = None if plain.terminal is None else _terminal(plain.terminal)
    return Passage(plain.session, plain.turn, plain.attempt, plain.end, plain.text, terminal)


def _end(terminal: Terminal) -> _End:
    match terminal:
        case Done(turn):
            return _End("done", turn=turn)
        case Cancelled():
            return _End("cancelled")
        case Blocked(reason):
            return _End("blocked", reason=reason)
        case Failed(error):
            return _End("failed", error=error)
        case never:
            assert_never(never)


def _terminal(end: _End) -> Terminal:
    match end:
        case _End("done", turn=Turn() as turn):
            return Done(turn)
        case _End("cancelled"):
            return Cancelled()
        case _End("blocked", reason=BlockReason() as reason):
            return Blocked(reason)
        case _End("failed", error=TurnError() as error):
            return Failed(error)
        case _:
            raise Unreadable


def _decoded(decoder: msgspec.json.Decoder[_T], written: bytes) -> _T:
    try:
        return decoder.decode(written)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Unreadable from error
