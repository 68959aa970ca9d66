"""A router elsewhere: how it is told what is asked, and how its fleet looks from here."""

import asyncio
from dataclasses import replace

import pytest

from gateway.adapters.remote import remote_router as subject
from gateway.adapters.remote.remote_router import RemoteRouter
from router.domain.asks import Asks, Ticket
from router.domain.exchange import ChatRequest, Message
from router.domain.fleet import AffinityKey, Health, ReplicaId
from router.domain.pin import Demand, PinMode
from router.errors import EngineTimedOut, EngineUnreachable
from tests.support.eventually import eventually
from tests.support.scripted_line import END, ScriptedAnswer, ScriptedLine, chunk

KEY = AffinityKey("tenant/session 1")
REQUEST = ChatRequest(
    "smollm2", (Message("user", "Hello"),), 64, 0.0, "salt", "session-1-1", "session-1", trace_parent="00-trace"
)
LIST = (
    b'{"replicas":[{"id":"a","url":"http://a","models":["smollm2"],"health":"ready","reason":"","warnings":["w"],'
    b'"is_draining":true,"sessions":3,"kv_tokens":9,"kv_capacity_tokens":100,"in_flight":1,"drain":{"acknowledged":1,'
    b'"missing":0,"missing_routers":[],"in_flight":1,"sessions_left":3,"seconds_left":9.5,"may_stop":false}},'
    b'{"id":"b","url":"http://b","models":[],"health":"down","reason":"refused","warnings":[],"is_draining":false,'
    b'"sessions":null,"kv_tokens":null,"kv_capacity_tokens":null,"in_flight":0,"drain":null}]}'
)


def router(line: ScriptedLine) -> RemoteRouter:
    return RemoteRouter(line=line, may_continue=True)


async def headers(asks: Asks, request: ChatRequest = REQUEST) -> dict[str, str]:
    line = ScriptedLine([ScriptedAnswer([chunk("Hi"), END])])
    async with router(line).turn(KEY, request, asks=asks) as reply:
        assert [item async for item in reply]
    return line.sent[0].headers


async def test_all_that_a_caller_asks_goes_along() -> None:
    asks = Asks(
        demand=Demand(kv_tokens=4096, cohort="scenario"),
        prefer=ReplicaId("a"),
        mode=PinMode.HARD,
        ticket=Ticket("drill", "account", 3),
        may_continue=False,
    )
    assert await headers(asks) == {
        "x-session-id": KEY,
        "x-request-id": "session-1-1",
        "traceparent": "00-trace",
        "x-prefer-replica": "a",
        "x-session-cohort": "scenario",
        "x-session-kv": "4096",
        "x-pin-mode": "hard",
        "x-drill-id": "drill",
        "x-account-id": "account",
        "x-priority": "3",
        "x-no-continue": "1",
    }


async def test_what_is_not_asked_is_not_told() -> None:
    assert set(await headers(Asks())) == {"x-session-id", "x-request-id", "traceparent", "x-session-kv"}


async def test_a_background_call_is_told_as_one() -> None:
    assert (await headers(Asks(), replace(REQUEST, priority=1)))["x-priority"] == "1"


async def test_a_session_is_named_in_the_path_safely() -> None:
    line = ScriptedLine(answers=[(204, b""), (202, b"{}")])
    await router(line).end(KEY)
    await router(line).prewarm(KEY, REQUEST)
    assert [(sent.method, sent.path) for sent in line.sent] == [
        ("DELETE", "/sessions/tenant%2Fsession%201"),
        ("POST", "/sessions/tenant%2Fsession%201/prewarm"),
    ]


async def test_a_router_that_is_away_spoils_no_end_and_no_prewarm() -> None:
    line = ScriptedLine(answers=[EngineUnreachable("router", "refused"), EngineTimedOut("router", "silent")])
    await router(line).end(KEY)
    await router(line).prewarm(KEY, REQUEST)


async def test_the_fleet_is_the_router_s() -> None:
    one = router(ScriptedLine(answers=[(200, LIST)]))
    await one.look()
    a, b = one.fleet().replicas
    assert (a.id, a.is_ready, a.is_draining, sorted(a.models), a.kv_capacity_tokens) == (
        ReplicaId("a"),
        True,
        True,
        ["smollm2"],
        100,
    )
    assert (b.health, b.reason, b.models) == (Health.DOWN, "refused", frozenset())


@pytest.mark.parametrize(
    "answer",
    [
        EngineUnreachable("router", "refused"),
        (401, b"{}"),
        (200, b"nonsense"),
        (200, b"{}"),
        (200, b'{"replicas":[1]}'),
    ],
)
async def test_a_router_that_cannot_be_asked_stands_for_a_fleet_that_is_not_ready(
    answer: tuple[int, bytes] | Exception,
) -> None:
    one = router(ScriptedLine(answers=[answer]))
    assert not one.fleet().ready
    await one.look()
    (seen,) = one.fleet().replicas
    assert (seen.id, seen.health) == ("router", Health.DOWN)
    assert seen.reason


async def test_it_is_looked_at_over_and_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "_LOOK_EVERY_S", 0.001)
    line = ScriptedLine(answers=[EngineUnreachable("router", "refused"), *[(200, LIST)] * 10_000])
    one = router(line)
    async with asyncio.TaskGroup() as group:
        looking = group.create_task(one.run())
        await eventually(lambda: bool(one.fleet().ready))
        looking.cancel()
