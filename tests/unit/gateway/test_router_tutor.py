"""The router's words and errors as sessions know them."""

from dataclasses import replace
from uuid import uuid4

import pytest

from gateway.router_tutor import RouterTutor, ServedModel
from router.domain.exchange import Finished, FinishReason, TextPiece
from router.domain.fleet import ReplicaId
from router.errors import (
    EngineBroke,
    EngineBusy,
    EngineRejected,
    EngineTimedOut,
    EngineUnreachable,
    ModelUnknown,
    NoReplicaAvailable,
    NoRoom,
    StreamBroken,
)
from sessions.domain.prompt import Message, Role
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import SessionId
from sessions.domain.turn import Usage
from sessions.domain.viewer import AccountId, TenantId
from sessions.errors import TutorAbsent, TutorBroke, TutorFull, TutorRejected, TutorUnavailable
from sessions.ports import Asker, Piece, ReplyEnd, TutorRequest
from tests.support.scripted_router import END, Handover, ScriptedRouter

SMALL = ServedModel("smollm2", 0.5, (("date_string", "a day"),))
LARGE = ServedModel("qwen", 0.1)
ASKER = Asker(ScenarioId(uuid4()), 2, AccountId(uuid4()), window_tokens=4096)
REQUEST = TutorRequest(
    session=SessionId(uuid4()),
    tenant=TenantId(uuid4()),
    turn=4,
    messages=(Message(Role.SYSTEM, "Be a customer."), Message(Role.USER, "Hello")),
    max_tokens=64,
    asker=ASKER,
    last_replica="replica-3",
    trace_parent="00-trace",
)


def tutor(router: ScriptedRouter) -> RouterTutor:
    return RouterTutor(router=router, models=(SMALL, LARGE), retry_after_s=3)


async def heard(router: ScriptedRouter, request: TutorRequest = REQUEST) -> list[Piece | ReplyEnd]:
    async with tutor(router).reply(request) as reply:
        return [item async for item in reply.items]


async def test_a_reply_comes_in_pieces_and_ends_with_its_usage() -> None:
    router = ScriptedRouter()
    async with tutor(router).reply(REQUEST) as reply:
        items = [item async for item in reply.items]
        assert router.open_turns == 1
    assert router.open_turns == 0
    assert (reply.replica, reply.pin, reply.continued) == ("replica-1", "new", 0)
    assert items == [Piece("Hel"), Piece("lo"), ReplyEnd("stop", Usage(30, 20, 2))]
    sent = router.asked[0].request
    assert [(m.role, m.content) for m in sent.messages] == [("system", "Be a customer."), ("user", "Hello")]
    assert (sent.model, sent.max_tokens, sent.temperature) == ("smollm2", 64, 0.5)
    assert sent.request_id == f"{sent.session_id}-4"
    assert sent.trace_parent == "00-trace"
    assert sent.template_arguments == (("date_string", "a day"),)


async def test_a_request_goes_to_the_model_it_names_as_that_one_is_asked() -> None:
    router = ScriptedRouter()
    await heard(router, replace(REQUEST, model="qwen"))
    await tutor(router).warm(replace(REQUEST, model="qwen"))
    for sent in (router.asked[0].request, router.prewarmed[0]):
        assert (sent.model, sent.temperature, sent.template_arguments) == ("qwen", 0.1, ())


async def test_a_usage_that_the_engine_did_not_tell_is_nothing_but_zeros() -> None:
    items = await heard(ScriptedRouter((TextPiece("Hello"), Finished(FinishReason.STOP, None))))
    assert items == [Piece("Hello"), ReplyEnd("stop", Usage())]


async def test_a_reply_that_was_taken_over_tells_where_it_is() -> None:
    router = ScriptedRouter((TextPiece("Hel"), Handover(ReplicaId("replica-2")), TextPiece("lo"), END))
    async with tutor(router).reply(REQUEST) as reply:
        assert len([item async for item in reply.items]) == 3
        assert (reply.replica, reply.continued) == ("replica-2", 1)


async def test_the_router_hears_how_to_place_the_session() -> None:
    router = ScriptedRouter()
    await heard(router)
    asks = router.asked[0].asks
    assert (asks.prefer, asks.demand.kv_tokens, asks.ticket.account) == ("replica-3", 4096, str(ASKER.trainee))
    assert (asks.ticket.drill, asks.ticket.priority, asks.mode, asks.may_continue) == ("", 0, None, True)


async def test_a_background_call_is_named_and_gives_way() -> None:
    router = ScriptedRouter()
    await heard(router, replace(REQUEST, name="note", is_background=True))
    await heard(router, replace(REQUEST, name="opening"))
    sent = [asked.request for asked in router.asked]
    assert [each.request_id for each in sent] == [f"{REQUEST.session}-4-note", f"{REQUEST.session}-4-opening"]
    assert [each.priority for each in sent] == [1, 0]


async def test_sessions_of_one_scenario_version_are_one_cohort_inside_their_tenant() -> None:
    router = ScriptedRouter()
    others = (
        replace(REQUEST, session=SessionId(uuid4()), turn=1),
        replace(REQUEST, tenant=TenantId(uuid4())),
        replace(REQUEST, asker=replace(ASKER, scenario_version=3)),
        replace(REQUEST, asker=replace(ASKER, scenario=ScenarioId(uuid4()))),
    )
    for request in (REQUEST, *others):
        await heard(router, request)
    cohorts = [asked.asks.demand.cohort for asked in router.asked]
    assert cohorts[0] == cohorts[1]
    assert len(set(cohorts)) == 4


async def test_a_tenant_has_one_cache_salt_and_no_two_tenants_the_same() -> None:
    router = ScriptedRouter()
    for request in (REQUEST, replace(REQUEST, turn=5), replace(REQUEST, tenant=TenantId(uuid4()))):
        await heard(router, request)
    salts = [asked.request.cache_salt for asked in router.asked]
    assert salts[0] == salts[1] != salts[2]
    assert str(REQUEST.tenant) not in salts[0]


async def test_a_forgotten_session_is_ended_and_a_warmed_one_gets_its_whole_prompt() -> None:
    router = ScriptedRouter()
    await tutor(router).forget(REQUEST.session)
    assert router.ended == [str(REQUEST.session)]
    await heard(router)
    await tutor(router).warm(REQUEST)
    assert router.prewarmed == [router.asked[0].request]


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (EngineUnreachable("replica-1", "refused"), TutorUnavailable),
        (EngineTimedOut("replica-1", "silent"), TutorUnavailable),
        (EngineBusy("replica-1", "full"), TutorUnavailable),
        (ModelUnknown("smollm2", served=()), TutorUnavailable),
        (EngineRejected("replica-1", "bad: what the trainee said"), TutorRejected),
    ],
)
async def test_a_refusal_is_told_without_the_engine_s_words(refusal: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected) as caught:
        await heard(ScriptedRouter(refusal=refusal))
    assert "what the trainee said" not in str(caught.value)


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        (NoReplicaAvailable(ready=0, known=2, retry_after_s=7), TutorAbsent),
        (NoRoom(waited_s=5, position=2, retry_after_s=7), TutorFull),
    ],
)
async def test_without_room_the_caller_learns_when_to_try_again(
    refusal: Exception, expected: type[TutorUnavailable]
) -> None:
    with pytest.raises(expected) as caught:
        await heard(ScriptedRouter(refusal=refusal))
    assert caught.value.retry_after_s == 7


@pytest.mark.parametrize(
    "error",
    [EngineBroke("replica-1", "cut"), EngineTimedOut("replica-1", "stalled"), StreamBroken("an error object")],
)
async def test_a_reply_that_breaks_later_is_a_broken_one(error: Exception) -> None:
    async with tutor(ScriptedRouter((TextPiece("Hel"), error))).reply(REQUEST) as reply:
        items = reply.items
        assert await anext(items) == Piece("Hel")
        with pytest.raises(TutorBroke):
            await anext(items)
