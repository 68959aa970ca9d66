"""Decisions as JSON, to be kept and sent; strict when read, since whoever wrote it may be another version."""

import json
from collections.abc import Sequence

from router.domain.decision import Attempt, Candidate, Decision
from router.domain.fleet import ReplicaId
from router.domain.pin import PinDecision

_Json = dict[str, object]

_DECISION = tuple(Decision.__dataclass_fields__)
_CANDIDATE = tuple(Candidate.__dataclass_fields__)
_ATTEMPT = tuple(Attempt.__dataclass_fields__)
_encode = json.JSONEncoder(separators=(",", ":")).encode


def decision_to_json(decision: Decision) -> bytes:
    fields = _written(decision, _DECISION)
    fields["candidates"] = [_written(candidate, _CANDIDATE) for candidate in decision.candidates]
    fields["attempts"] = [_written(attempt, _ATTEMPT) for attempt in decision.attempts]
    return _encode(fields).encode()


def decision_from_json(text: bytes) -> Decision:
    """Raises `ValueError` unless these are the bytes of a decision."""
    try:
        content: object = json.loads(text)
        fields = _fields(content, _DECISION)
        return Decision(
            request_id=_text(fields, "request_id"),
            model=_text(fields, "model"),
            at=_float(fields, "at"),
            pin=PinDecision(_text(fields, "pin")),
            generation=_integer(fields, "generation"),
            waited_ms=_float(fields, "waited_ms"),
            candidates=tuple(_candidate(item) for item in _list(fields, "candidates")),
            attempts=[_attempt(item) for item in _list(fields, "attempts")],
        )
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _candidate(content: object) -> Candidate:
    fields = _fields(content, _CANDIDATE)
    return Candidate(
        replica=ReplicaId(_text(fields, "replica")),
        sessions=_maybe(fields, "sessions"),
        kv_tokens=_maybe(fields, "kv_tokens"),
        in_flight=_maybe(fields, "in_flight"),
        refused=_text(fields, "refused"),
    )


def _attempt(content: object) -> Attempt:
    fields = _fields(content, _ATTEMPT)
    return Attempt(
        replica=ReplicaId(_text(fields, "replica")),
        why=_text(fields, "why"),
        outcome=_text(fields, "outcome"),
        detail=_text(fields, "detail"),
        continued=_bool(fields, "continued"),
    )


def _written(value: object, names: Sequence[str]) -> _Json:
    return {name: getattr(value, name) for name in names}


def _fields(content: object, names: Sequence[str]) -> _Json:
    if not isinstance(content, dict) or content.keys() != set(names):
        raise ValueError("not the fields of a decision")
    return content


def _text(fields: _Json, name: str) -> str:
    value = fields[name]
    if not isinstance(value, str):
        raise _wrong(name)
    return value


def _bool(fields: _Json, name: str) -> bool:
    value = fields[name]
    if not isinstance(value, bool):
        raise _wrong(name)
    return value


def _integer(fields: _Json, name: str) -> int:
    value = fields[name]
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(name)
    return value


def _maybe(fields: _Json, name: str) -> int | None:
    return None if fields[name] is None else _integer(fields, name)


def _float(fields: _Json, name: str) -> float:
    value = fields[name]
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise _wrong(name)
    return float(value)


def _list(fields: _Json, name: str) -> list[object]:
    value = fields[name]
    if not isinstance(value, list):
        raise _wrong(name)
    return value


def _wrong(name: str) -> ValueError:
    return ValueError(f"{name} has the wrong type")
