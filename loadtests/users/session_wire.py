"""Turns of sessions, as a careful client takes them: what is refused for a moment is asked again under the same key,
and a stream that is lost is read on. `docs/streams.md` has the rules."""

import time
from dataclasses import dataclass, field, replace
from uuid import uuid4

import gevent

from loadtests.domain.hearing import Hearing
from loadtests.domain.part import Act
from loadtests.domain.rows import Kind, Row
from loadtests.users.caller import Answer, Caller, Lost
from loadtests.users.message import Message
from loadtests.users.mid_reply import Beside
from loadtests.users.stage import Stage
from loadtests.users.taken import Place, Refusal, Taken, refusal

_LOST_PAUSE_S = 0.5
_OK = 200
_CANCELLED = "cancelled"
_DELTA = b"event: delta"
_STREAM = {"Accept": "text/event-stream"}


@dataclass(slots=True, kw_only=True)
class _Turn:
    place: Place
    text: str
    taken: Taken
    key: str = field(default_factory=lambda: str(uuid4()))
    hearing: Hearing = field(default_factory=Hearing)
    unheard: list[tuple[float, bytes]] = field(default_factory=list)
    pieces: int = 0
    has_acted: bool = False
    beside: Beside | None = None

    @property
    def is_time_to_act(self) -> bool:
        """In mid-reply, after the piece that the timetable names."""
        return 0 < self.place.ask.after == self.pieces and not self.has_acted

    def hear(self) -> None:
        """Parse what has come; the stamps were taken before."""
        for at, raw in self.unheard:
            self.hearing.line(raw, at=at)
        self.unheard.clear()


class SessionWire:
    """One trainee's."""

    def __init__(self, stage: Stage, caller: Caller) -> None:
        self._stage = stage
        self._caller = caller

    def take(self, place: Place, said: Message) -> None:
        """Take the turn to its end, and write its row."""
        turn = _Turn(place=place, text=said.text, taken=Taken(started_at=time.perf_counter(), notes=[said.note]))
        failure: str | None = "timeout"
        with gevent.Timeout(self._stage.patience_s, False):  # noqa: FBT003  gevent's own: end without an error
            failure = self._to_its_end(turn)
        turn.taken.ended_at = time.perf_counter()
        heard = turn.hearing.heard(failure=failure)
        if heard.finish == _CANCELLED and place.ask.act is not Act.CANCEL:
            heard = replace(heard, failure=_CANCELLED)  # nobody asked for that
        self._stage.book.write(turn.taken.row(place, heard, self._stage.clock))
        if turn.beside is not None:
            turn.beside.finish(heard, ended_at=turn.taken.ended_at)

    def _to_its_end(self, turn: _Turn) -> str | None:
        """What failed, beyond what the stream itself says."""
        while True:
            turn.taken.attempts += 1
            pause_s = 0.0
            try:
                refused = self._attempt(turn)
            except Lost:
                turn.taken.notes.append("lost")
                pause_s = _LOST_PAUSE_S
            else:
                if turn.hearing.is_over:
                    return None
                if refused is not None:
                    turn.taken.notes.append(refused.code)
                    if refused.after_s is None:
                        return refused.failure
                    pause_s = refused.after_s
            gevent.sleep(pause_s)

    def _attempt(self, turn: _Turn) -> Refusal | None:
        if turn.hearing.last_event:
            return self._resumed(turn)
        path = f"/v1/sessions/{turn.place.session}/turns"
        answer = self._caller.send_json(
            "POST", path, {"text": turn.text}, headers={**_STREAM, "Idempotency-Key": turn.key}
        )
        turn.taken.status = answer.status
        if answer.status != _OK:
            return refusal(answer)
        self._read(turn, answer)
        return None

    def _read(self, turn: _Turn, answer: Answer) -> None:
        try:
            for at, raw in answer.lines():
                turn.unheard.append((at, raw))
                if raw.startswith(_DELTA):
                    turn.pieces += 1
                elif not raw and turn.is_time_to_act and self._is_cut(turn):
                    answer.close()
                    break
        finally:
            turn.hear()

    def _is_cut(self, turn: _Turn) -> bool:
        """Act in mid-reply; whether the stream is lost by it."""
        turn.has_acted = True
        turn.hear()
        match turn.place.ask.act:
            case Act.CUT:
                turn.taken.notes.append("cut")
                return True
            case Act.CANCEL | Act.TWICE | Act.BESIDE:
                number = turn.hearing.turn
                turn.beside = Beside(
                    self._stage, self._caller, place=turn.place, turn=number, text=turn.text, key=turn.key
                )
            case _:
                pass
        return False

    def _resumed(self, turn: _Turn) -> Refusal | None:
        """The rest of the turn, with a row of its own."""
        path = f"/v1/sessions/{turn.place.session}/turns/{turn.hearing.turn}/events"
        began = time.perf_counter()
        status: int | None = None
        failure: str | None = "lost"
        try:
            answer = self._caller.send("GET", path, headers={**_STREAM, "Last-Event-ID": turn.hearing.last_event})
            status = answer.status
            if status != _OK:
                refused = refusal(answer)
                failure = refused.failure
                return refused
            self._read(turn, answer)
            failure = None if turn.hearing.is_over else "no_end"
        finally:
            self._resume_row(turn, began, status, failure)
        return None

    def _resume_row(self, turn: _Turn, began: float, status: int | None, failure: str | None) -> None:
        clock, place = self._stage.clock, turn.place
        self._stage.book.write(
            Row(
                kind=Kind.RESUME,
                worker=place.worker,
                trainee=place.trainee,
                session=place.session,
                turn=place.turn,
                planned_s=clock.at(began),
                started_s=clock.at(began),
                ended_s=clock.now(),
                status=status,
                stored_as=turn.hearing.turn,
                failure=failure,
            )
        )
