"""What has to be refused: each with the answers that are right. One of them after the other, at the trainee's times."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import gevent

from loadtests.domain.rows import Kind, Row
from loadtests.users.caller import Caller, Lost
from loadtests.users.stage import Stage
from loadtests.users.taken import Place

_LOST = 0
"""Instead of a status: the connection was cut, which is an answer too where a request is too much to be read."""
_BUSY = frozenset({429, 503})
"""Whoever is too busy to look has refused as well."""
_LET_IN = range(200, 300)
_HUGE_BYTES = 2 * 2**20
_FLOOD_BYTES = 512 * 1024
_DEAF_S = 3.0
_JSON = {"Content-Type": "application/json"}
_STREAM = {"Accept": "text/event-stream"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Misdeed:
    name: str
    method: str
    path: str
    body: bytes = b""
    headers: Mapping[str, str | None] = field(default_factory=dict)
    right: frozenset[int]
    is_deaf: bool = False
    """It is a request like any other, whose answer is not read for a while: it may well be let in."""


def misdeeds(session: str, foreign: str) -> tuple[Misdeed, ...]:
    """`foreign` is a session of somebody else, or one that is not there."""
    turns, others = f"/v1/sessions/{session}/turns", f"/v1/sessions/{foreign}/turns"
    good = json.dumps({"text": "Good morning."}).encode()
    huge = json.dumps({"text": "x" * _HUGE_BYTES}).encode()
    return (
        _deed("no_key", "POST", turns, 401, body=good, headers={**_JSON, "Authorization": None}),
        _deed("wrong_key", "POST", turns, 401, body=good, headers={**_JSON, "Authorization": "Bearer dy_wrong"}),
        _deed("foreign_session", "GET", others, 404),
        _deed("foreign_turn", "POST", others, 404, body=good, headers=_JSON),
        _deed("huge_body", "POST", turns, 413, _LOST, body=huge, headers=_JSON),
        _deed("broken_json", "POST", turns, 400, body=b'{"text": "Good', headers=_JSON),
        _deed("wrong_fields", "POST", turns, 422, body=b'{"text": 7, "system": "obey"}', headers=_JSON),
        _deed("wrong_type", "POST", turns, 415, body=good, headers={"Content-Type": "text/plain"}),
        _deed("empty_text", "POST", turns, 422, body=b'{"text": " "}', headers=_JSON),
        _deed("flood_of_headers", "GET", turns, 431, _LOST, headers={"X-Flood": "x" * _FLOOD_BYTES}),
        _deed("wrong_method", "DELETE", turns, 405),
        _deed("wrong_turn", "GET", f"{turns}/0/events", 404, 422, headers=_STREAM),
        _deed("wrong_scenario", "POST", "/v1/sessions", 404, body=b'{"scenario_id": "none"}', headers=_JSON),
        Misdeed(
            name="deaf_reader",
            method="POST",
            path=turns,
            body=good,
            headers={**_JSON, **_STREAM},
            right=frozenset({200, 409}),
            is_deaf=True,
        ),
    )


def chat_misdeeds() -> tuple[Misdeed, ...]:
    """Refused by whatever speaks OpenAI's API."""
    path = "/v1/chat/completions"
    return (
        _deed("broken_json", "POST", path, 400, 422, body=b'{"messages": [', headers=_JSON),
        _deed("no_messages", "POST", path, 400, 422, body=b'{"model": "none"}', headers=_JSON),
        _deed("wrong_messages", "POST", path, 400, 422, body=b'{"model": "none", "messages": 7}', headers=_JSON),
        _deed("wrong_method", "DELETE", path, 404, 405),
    )


def _deed(
    name: str, method: str, path: str, *right: int, body: bytes = b"", headers: Mapping[str, str | None] | None = None
) -> Misdeed:
    return Misdeed(name=name, method=method, path=path, body=body, headers=headers or {}, right=frozenset(right))


def commit(stage: Stage, caller: Caller, place: Place, deeds: tuple[Misdeed, ...]) -> None:
    """One of them, chosen by the timetable; its row says what was let in, or refused in a wrong way."""
    deed = deeds[place.ask.after % len(deeds)]
    began = time.perf_counter()
    status = None
    with gevent.Timeout(stage.patience_s, False):  # noqa: FBT003  gevent's own: end without an error
        status = _status(caller, deed)
    stage.book.write(
        Row(
            kind=Kind.HOSTILE,
            worker=place.worker,
            trainee=place.trainee,
            session=place.session,
            turn=place.turn,
            planned_s=place.ask.at_s,
            started_s=stage.clock.at(began),
            free_s=place.free_s,
            ended_s=stage.clock.now(),
            status=status or None,
            failure=failure_of(status, deed),
            note=deed.name,
        )
    )


def failure_of(status: int | None, deed: Misdeed) -> str | None:
    if status is None:
        return "timeout"
    if status in deed.right or status in _BUSY:
        return None
    if status in _LET_IN:
        return "let_in"
    return "lost" if status == _LOST else f"http_{status}"


def _status(caller: Caller, deed: Misdeed) -> int:
    try:
        answer = caller.send(deed.method, deed.path, body=deed.body, headers=deed.headers)
        if deed.is_deaf:
            gevent.sleep(_DEAF_S)
        answer.body()
    except Lost:
        return _LOST
    return answer.status
