from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest

from gateway.api.event_text import event_text
from sessions.domain.citation import Citation, DocumentId
from sessions.domain.events import Accepted, Blocked, Cancelled, Delta, Done, Failed, TurnEvent
from sessions.domain.moderation import BlockReason
from sessions.domain.session import SessionId
from sessions.domain.turn import Timings, Turn, TurnError, TurnState, Usage

SESSION = SessionId(UUID(int=1))
AT = datetime(2026, 1, 1, tzinfo=UTC)
TURN = Turn(
    SESSION, 3, TurnState.COMPLETED, "Hi", "Hello", AT, AT, 1, 1, "stop", Usage(9, 8, 1), Timings(1.5, 2.5, 3.5)
)
CITED = Citation(DocumentId(UUID(int=1)), "条款.md", 3, "A > B", 7.25)


@pytest.mark.parametrize(
    ("event", "name", "data"),
    [
        (
            Accepted(SESSION, 3, None),
            "accepted",
            '{"session_id":"00000000-0000-0000-0000-000000000001","turn":3,"replica":null}',
        ),
        (Delta('你好\n"'), "delta", '{"text":"你好\\n\\""}'),
        (Cancelled(), "cancelled", "{}"),
        (Blocked(BlockReason.BANNED_PHRASE), "blocked", '{"reason":"banned_phrase"}'),
        (
            Failed(TurnError("tutor_broke", "it broke", retryable=True)),
            "error",
            '{"code":"tutor_broke","message":"it broke","retryable":true}',
        ),
        (
            Done(replace(TURN, replica="r1", model="m", fell_back=True, citations=(CITED,))),
            "done",
            '{"turn":3,"finish_reason":"stop","usage":{"prompt_tokens":9,"cached_tokens":8,"completion_tokens":1},'
            '"timings":{"queue_ms":1.5,"ttft_ms":2.5,"e2e_ms":3.5},"replica":"r1","continued":false,'
            '"model":"m","tier":"role_play","fell_back":true,"citations":[{"document_id":'
            '"00000000-0000-0000-0000-000000000001","document_name":"条款.md","chunk":3,"heading":"A > B"}]}',
        ),
    ],
)
def test_each_event_is_written_as_promised(event: TurnEvent, name: str, data: str) -> None:
    assert event_text(3, 12, event).decode() == f"id: 3-12\nevent: {name}\ndata: {data}\n\n"


@pytest.mark.parametrize("text", ["\n\n", "\r", "\u2028", "\u2029", "\x00", "data: x", "🙂"])
def test_no_text_can_end_its_event(text: str) -> None:
    written = event_text(1, 2, Delta(text))
    assert written.count(b"\n") == 4
    assert b"\r" not in written
    assert b"\x00" not in written
