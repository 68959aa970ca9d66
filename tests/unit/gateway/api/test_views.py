from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from gateway.api.views import ContextView, ScenarioView, SessionView, TurnView
from sessions.domain.context import Block, BlockKind, Context
from sessions.domain.moderation import Action, BlockReason, Direction, Judgement, Mark, Source
from sessions.domain.note import Note, NoteMaker
from sessions.domain.prompt import Message, Role
from sessions.domain.scenario import Scenario, ScenarioId
from sessions.domain.session import Session, SessionId
from sessions.domain.turn import Turn, TurnError, TurnState
from sessions.domain.viewer import AccountId, TenantId
from tests.support.session_fakes import content

AT = datetime(2026, 3, 1, 9, 0, 0, 120000, tzinfo=UTC)
TENANT, ACCOUNT = TenantId(uuid4()), AccountId(uuid4())
SCENARIO = Scenario(ScenarioId(uuid4()), TENANT, 2, 3, content(), ACCOUNT, AT)
SESSION = Session(SessionId(uuid4()), TENANT, ACCOUNT, SCENARIO.id, 2, "complaint", "Hello?", AT, metadata={"a": "b"})
NOTE = Note(SESSION.id, 1, 1, 9, "They talked.", 7, NoteMaker.EXTRACT, 12, AT)
TURN = Turn(SESSION.id, 1, TurnState.COMPLETED, "Hi", "Hello", AT, AT, 1, 1, "stop")


def test_a_scenario_shows_its_content_and_nobodys_tenant() -> None:
    shown = ScenarioView.of(SCENARIO).model_dump(mode="json")
    assert (shown["version"], shown["latest_version"], shown["title"]) == (2, 3, "A late parcel")
    assert shown["limits"] == {"max_turns": 50, "max_reply_tokens": None}
    assert shown["scenes"][0] == {"name": "complaint", "script": "The customer complains."}
    assert shown["created_at"] == "2026-03-01T09:00:00.120000Z"
    assert str(TENANT) not in str(shown)


def test_a_session_has_no_drill_yet() -> None:
    shown = SessionView.of(SESSION).model_dump(mode="json")
    assert (shown["drill_id"], shown["state"], shown["closed_at"]) == (None, "open", None)
    assert (shown["scenario_version"], shown["metadata"]) == (2, {"a": "b"})


def test_a_turn_shows_why_it_failed() -> None:
    assert TurnView.of(TURN, shows_findings=False).error is None
    failed = replace(TURN, state=TurnState.FAILED, error=TurnError("tutor_broke", "it broke", retryable=True))
    shown = TurnView.of(failed, shows_findings=False).model_dump(mode="json")
    assert (shown["state"], shown["error"]["code"], shown["error"]["retryable"]) == ("failed", "tutor_broke", True)


def test_findings_are_shown_to_staff_alone() -> None:
    mark = Mark(Direction.INPUT, Source.PHRASE, "r7", "fraud", 3, Action.BLOCK, "sales", 2, 4, 9, "ab12", 0.5)
    blocked = replace(TURN, state=TurnState.BLOCKED, moderation=Judgement((mark,), BlockReason.BANNED_PHRASE, ("p",)))
    trainee = TurnView.of(blocked, shows_findings=False).model_dump(mode="json")
    assert (trainee["state"], trainee["blocked_reason"], trainee["moderation"]) == ("blocked", "banned_phrase", None)
    assert "r7" not in str(trainee)
    finding = {
        **{"direction": "input", "source": "phrase", "rule": "r7", "category": "fraud", "severity": 3},
        **{"action": "block", "list": "sales", "list_version": 2, "start": 4, "end": 9, "score": 0.5, "sha256": "ab12"},
    }
    staff = TurnView.of(blocked, shows_findings=True).model_dump(mode="json")
    assert staff["moderation"] == {"verdict": "block", "findings": [finding], "points": ["p"]}
    assert TurnView.of(TURN, shows_findings=True).moderation is None


def test_a_context_shows_blocks_and_messages() -> None:
    blocks = (Block(BlockKind.SYSTEM, 9, "aa"), Block(BlockKind.TURNS, 5, "bb", 1, 2))
    messages = (Message(Role.SYSTEM, "You are."),)
    context = Context(SESSION.id, "m", 4096, 256, 14, 700, blocks, messages, "a record", (NOTE,), "cc", "tiktoken")
    shown = ContextView.of(context).model_dump(mode="json")
    assert shown["blocks"][1] == {"kind": "turns", "tokens": 5, "sha256": "bb", "from_turn": 1, "to_turn": 2}
    assert shown["messages"] == [{"role": "system", "content": "You are."}]
    assert shown["counted_by"] == "tiktoken"
    assert shown["summary"] == "a record"
    assert shown["notes"] == [
        {"from_turn": 1, "to_turn": 9, "tokens": 7, "made_by": "extract", "created_at": "2026-03-01T09:00:00.120000Z"}
    ]
    assert ContextView.of(replace(context, summary="")).summary is None
