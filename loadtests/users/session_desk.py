"""Where a trainee opens and closes sessions, and reads afterwards what was stored of them."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from uuid import uuid4

import gevent

from loadtests.domain.heard import digest_of
from loadtests.domain.part import Visit
from loadtests.domain.rows import Kind, Row
from loadtests.users.caller import Caller, Lost
from loadtests.users.stage import Stage
from loadtests.users.taken import refusal

_LOST_PAUSE_S = 0.5
_PAGE = 100
_REFUSED = 400


@dataclass(slots=True)
class _Asked:
    began_at: float = field(default_factory=time.perf_counter)
    status: int | None = None
    attempts: int = 0
    content: Mapping[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failure: str | None = "timeout"


class SessionDesk:
    """One trainee's."""

    def __init__(self, stage: Stage, caller: Caller, *, trainee: int) -> None:
        self._stage = stage
        self._caller = caller
        self._trainee = trainee

    def opened(self, visit: Visit) -> str | None:
        """The session's id; None: it could not be opened."""
        order = {"scenario_id": self._stage.aim.scenario}
        asked = self._asked("POST", "/v1/sessions", order)
        session = str(asked.content.get("id") or "")
        if not session and asked.failure is None:
            asked.failure = "malformed"
        self._write(Kind.OPEN, session, asked, planned_s=visit.opens_s)
        self._stage.sessions[self._trainee] = session
        return session or None

    def close(self, session: str) -> None:
        self._write(Kind.CLOSE, session, self._asked("POST", f"/v1/sessions/{session}/close"))

    def audit(self, session: str) -> None:
        """Keep numbers and digests of the stored turns, to be held against what was heard."""
        path = f"/v1/sessions/{session}/turns?limit={_PAGE}"
        asked = self._asked("GET", path)
        stored: list[tuple[int, str]] = []
        told: set[str] = set()
        try:
            stored += _stored(asked.content)
            while asked.failure is None and (cursor := _following(asked.content, told)):
                asked = self._asked("GET", f"{path}&cursor={cursor}")
                stored += _stored(asked.content)
        except (KeyError, TypeError, ValueError):
            asked.failure = "malformed"
        self._write(Kind.AUDIT, session, asked, stored=tuple(stored))

    def _asked(self, method: str, path: str, order: object = None) -> _Asked:
        """The answer, after what had to be waited out."""
        asked = _Asked()
        headers = {"Idempotency-Key": str(uuid4())}
        with gevent.Timeout(self._stage.patience_s, False):  # noqa: FBT003  gevent's own: end without an error
            while (pause_s := self._attempt(asked, method, path, order, headers)) is not None:
                gevent.sleep(pause_s)
        return asked

    def _attempt(
        self, asked: _Asked, method: str, path: str, order: object, headers: Mapping[str, str]
    ) -> float | None:
        """How long to wait before it is asked again; None: that was it."""
        asked.attempts += 1
        try:
            if order is None:
                answer = self._caller.send(method, path, headers=headers if method == "POST" else None)
            else:
                answer = self._caller.send_json(method, path, order, headers=headers)
            asked.status = answer.status
            if answer.status >= _REFUSED:
                refused = refusal(answer)
                asked.notes.append(refused.code)
                asked.failure = "timeout" if refused.after_s is not None else refused.failure
                return refused.after_s
            content = answer.json()
        except Lost:
            asked.notes.append("lost")
            return _LOST_PAUSE_S
        asked.content = content if isinstance(content, dict) else {}
        asked.failure = None
        return None

    def _write(
        self,
        kind: Kind,
        session: str,
        asked: _Asked,
        *,
        planned_s: float | None = None,
        stored: tuple[tuple[int, str], ...] = (),
    ) -> None:
        began_s = self._stage.clock.at(asked.began_at)
        self._stage.book.write(
            Row(
                kind=kind,
                worker=self._stage.book.worker,
                trainee=self._trainee,
                session=session,
                planned_s=began_s if planned_s is None else planned_s,
                started_s=began_s,
                ended_s=self._stage.clock.now(),
                status=asked.status,
                attempts=asked.attempts,
                stored=stored,
                failure=asked.failure,
                note=" ".join(dict.fromkeys(filter(None, asked.notes))),
            )
        )


def _following(content: Mapping[str, object], told: set[str]) -> str:
    """The cursor of the next page, empty behind the last; raises `ValueError` for one that was told before."""
    cursor = str(content.get("next_cursor") or "")
    if cursor in told:
        raise ValueError(f"{cursor} leads back")
    told.add(cursor)
    return cursor


def _stored(content: Mapping[str, object]) -> Iterator[tuple[int, str]]:
    items = content.get("items")
    for item in items if isinstance(items, list) else ():
        yield int(item["turn"]), digest_of(str(item["reply"]))
