"""Operators' calls that go on to a router elsewhere."""

import pytest

from gateway.adapters.remote.remote_desk import RemoteFleetDesk
from gateway.errors import RouterUnreachable
from router.domain.decision import Attempt, Decision
from router.domain.decision_json import decision_to_json
from router.domain.fleet import ReplicaId
from router.errors import BoardUnavailable, DecisionsUnavailable, EngineUnreachable, ReplicaUnknown
from tests.support.scripted_line import ScriptedLine, error
from tests.unit.gateway.adapters.remote.test_remote_router import LIST

A = ReplicaId("a")


def desk(*answers: tuple[int, bytes] | Exception) -> tuple[RemoteFleetDesk, ScriptedLine]:
    line = ScriptedLine(answers=list(answers))
    return RemoteFleetDesk(line=line), line


async def test_replicas_are_seen_with_their_drains() -> None:
    one, line = desk((200, LIST), (200, LIST[len(b'{"replicas":[') : LIST.index(b',{"id":"b"')]))
    listed = await one.replicas()
    assert [state.id for state in listed] == ["a", "b"]
    assert listed[0].drain is not None
    assert (listed[0].drain.sessions_left, listed[0].drain.may_stop) == (3, False)
    assert await one.replica(A) == listed[0]
    assert line.sent[-1].path == "/replicas/a"


async def test_orders_go_to_their_replica() -> None:
    one, line = desk((202, b"{}"), (202, b"{}"), (204, b""))
    await one.drain(ReplicaId("a/b"), within_s=30)
    await one.drain(A, within_s=None)
    await one.undo_drain(A)
    assert [(sent.method, sent.path, sent.body) for sent in line.sent] == [
        ("POST", "/replicas/a%2Fb/drain", b'{"within_s": 30}'),
        ("POST", "/replicas/a/drain", b"{}"),
        ("DELETE", "/replicas/a/drain", b""),
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ((404, error("replica_not_found")), ReplicaUnknown),
        ((503, error("board_unavailable")), BoardUnavailable),
        ((503, error("decisions_unavailable")), DecisionsUnavailable),
        ((401, error("unauthenticated")), RouterUnreachable),
        ((502, b"<html>"), RouterUnreachable),
        ((200, b"nonsense"), RouterUnreachable),
        (EngineUnreachable("router", "refused"), RouterUnreachable),
    ],
)
async def test_a_refusal_is_the_one_it_was(answer: tuple[int, bytes] | Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected):
        await desk(answer)[0].replica(A)


async def test_a_decision_is_read_or_is_not_there() -> None:
    decision = Decision("session-1-1", "smollm2", 1.0, attempts=[Attempt(A, "pinned", "completed")])
    one, line = desk((200, decision_to_json(decision)), (404, error("not_found")), (200, b"{}"))
    assert await one.decision("session-1-1") == decision
    assert line.sent[0].path == "/decisions/session-1-1"
    assert await one.decision("nobody") is None
    with pytest.raises(RouterUnreachable):
        await one.decision("nonsense")
