"""What an impatient trainee does while a reply comes: stops it, sends the same message once more, or another one."""

import time
from uuid import uuid4

import gevent

from loadtests.domain.heard import Heard
from loadtests.domain.hearing import Hearing
from loadtests.domain.part import Act
from loadtests.domain.rows import Kind, Row
from loadtests.users.caller import Caller, Lost
from loadtests.users.stage import Stage
from loadtests.users.taken import Place, Taken

_OK = 200
_ACCEPTED = 202
_REFUSED_NOW = frozenset({409, 429, 503})
_STREAM = {"Accept": "text/event-stream"}
_KINDS = {Act.CANCEL: Kind.CANCEL, Act.TWICE: Kind.RESUME, Act.BESIDE: Kind.HOSTILE}


class Beside:
    """Begins at once, in a greenlet of its own. `turn` and `key` are those of the turn that runs."""

    def __init__(self, stage: Stage, caller: Caller, *, place: Place, turn: int | None, text: str, key: str) -> None:
        self._stage = stage
        self._caller = caller
        self._place = place
        self._taken = Taken(started_at=time.perf_counter(), attempts=1)
        self._answered_at = self._taken.started_at
        self._hearing = Hearing()
        self._greenlet = gevent.spawn(self._sent, turn, text, key)

    def finish(self, heard: Heard, *, ended_at: float) -> None:
        """Wait for its end, and write its row; `heard` and `ended_at` are of the turn that ran."""
        self._greenlet.join(self._stage.patience_s)
        self._greenlet.kill()
        self._taken.ended_at = time.perf_counter()
        beside = self._hearing.heard()
        failure = self._failure(heard, beside)
        if failure == "let_in" and self._answered_at >= ended_at:
            # It came when the turn was over, and so was a turn like any other; its row says that it was not planned.
            self._taken.notes.append(self._place.ask.act)
            self._stage.book.write(self._taken.row(self._place, beside, self._stage.clock))
        else:
            self._stage.book.write(self._row(failure))

    def _sent(self, turn: int | None, text: str, key: str) -> None:
        path = f"/v1/sessions/{self._place.session}/turns"
        try:
            match self._place.ask.act:
                case Act.CANCEL:
                    answer = self._caller.send("POST", f"{path}/{turn}/cancel")
                    self._taken.status = answer.status
                    answer.body()
                case Act.TWICE:
                    self._heard(path, text, key)
                case _:
                    self._heard(path, text, str(uuid4()))
        except Lost:
            self._taken.notes.append("lost")

    def _heard(self, path: str, text: str, key: str) -> None:
        answer = self._caller.send_json("POST", path, {"text": text}, headers={**_STREAM, "Idempotency-Key": key})
        self._answered_at = time.perf_counter()
        self._taken.status = answer.status
        if answer.status != _OK:
            answer.body()
            return
        for at, raw in answer.lines():
            self._hearing.line(raw, at=at)

    def _failure(self, heard: Heard, beside: Heard) -> str | None:
        status = self._taken.status
        if status is None:
            return "lost"
        match self._place.ask.act:
            case Act.CANCEL:
                return None if status == _ACCEPTED else f"http_{status}"
            case Act.TWICE if status == _OK:
                is_one = beside.stored_as == heard.stored_as and beside.digest == heard.digest
                return None if is_one or heard.failure is not None else "doubled"
            case Act.BESIDE if status == _OK:
                return "let_in"
            case _:
                return None if status in _REFUSED_NOW else f"http_{status}"

    def _row(self, failure: str | None) -> Row:
        clock, place = self._stage.clock, self._place
        began_s = clock.at(self._taken.started_at)
        return Row(
            kind=_KINDS[place.ask.act],
            worker=place.worker,
            trainee=place.trainee,
            session=place.session,
            turn=place.turn,
            planned_s=began_s,
            started_s=began_s,
            ended_s=clock.at(self._taken.ended_at),
            status=self._taken.status,
            failure=failure,
            note=place.ask.act,
        )
