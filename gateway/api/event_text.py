"""A turn's events as server-sent events, byte for byte."""

import json
from typing import assert_never

from gateway.api.views import CitationView, TimingsView, UsageView
from gateway.domain.accept import EVENT_STREAM
from sessions.domain.events import Accepted, Blocked, Cancelled, Delta, Done, Failed, TurnEvent

MEDIA_TYPE = EVENT_STREAM

HEARTBEAT = b": still here\n\n"
"""A comment, which every client ignores; it keeps balancers from cutting a quiet connection."""


def event_text(turn: int, place: int, event: TurnEvent) -> bytes:
    name, data = _named(event)
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return f"id: {turn}-{place}\nevent: {name}\ndata: {written}\n\n".encode()


def _named(event: TurnEvent) -> tuple[str, dict[str, object]]:
    match event:
        case Accepted(session, turn, replica):
            return "accepted", {"session_id": str(session), "turn": turn, "replica": replica}
        case Delta(text):
            return "delta", {"text": text}
        case Done():
            return "done", _done(event)
        case Cancelled():
            return "cancelled", {}
        case Blocked(reason):
            return "blocked", {"reason": reason}
        case Failed(error):
            return "error", {"code": error.code, "message": error.message, "retryable": error.retryable}
        case never:
            assert_never(never)


def _done(event: Done) -> dict[str, object]:
    turn = event.turn
    return {
        "turn": turn.number,
        "finish_reason": turn.finish_reason,
        "usage": UsageView.model_validate(turn.usage).model_dump(),
        "timings": TimingsView.model_validate(turn.timings).model_dump(),
        "replica": turn.replica,
        "continued": turn.continued,
        "model": turn.model,
        "tier": turn.tier,
        "fell_back": turn.fell_back,
        "citations": [CitationView.of(citation).model_dump(mode="json") for citation in turn.citations],
    }
