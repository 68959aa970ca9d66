"""What a turn is refused for, and what the tutor is asked."""

import asyncio
from dataclasses import replace
from itertools import pairwise

import pytest

from sessions.domain.prompt import Role
from sessions.domain.session import SessionId
from sessions.domain.tiers import Tier
from sessions.domain.turn import IdempotencyKey, TurnState
from sessions.errors import (
    IdempotencyKeyReused,
    PoolUnavailable,
    SessionClosed,
    SessionMoved,
    SessionNotFound,
    TextEmpty,
    TextTooLong,
    TurnLimitReached,
    TutorFull,
    TutorUnavailable,
)
from sessions.ports import Asker
from sessions.use_cases.open_turn import Stop
from sessions.use_cases.prepare_turn import TurnOrder
from tests.support.session_fakes import SHARES, broken, viewer
from tests.support.stage import staged


async def test_a_turn_is_stored_with_its_session_and_its_outbox_entry() -> None:
    stage = await staged()
    turn = await stage.play()
    assert (turn.number, turn.state, turn.reply, turn.finish_reason) == (1, TurnState.COMPLETED, "Hello there.", "stop")
    assert turn.timings.ttft_ms is not None
    assert 0 < turn.timings.queue_ms < turn.timings.ttft_ms < turn.timings.e2e_ms
    assert await stage.turns() == [turn]
    async with stage.records.begin() as work:
        session = await work.sessions.get(stage.trainee, stage.session.id)
        entries = await work.outbox.pending(limit=10)
    assert session is not None
    assert (session.turn_count, session.version) == (1, 2)
    assert [entry.kind for entry in entries] == ["session.started", "turn.completed"]
    assert "Hello" not in repr(entries)


async def test_each_prompt_extends_the_one_before_and_its_reply() -> None:
    stage = await staged()
    for number in range(1, 6):
        await stage.play(f"message {number}")
    prompts = [request.messages for request in stage.tutor.requests]
    for before, after in pairwise(prompts):
        assert after[: len(before)] == before
        assert [message.role for message in after[len(before) :]] == [Role.ASSISTANT, Role.USER]


async def test_the_tutor_hears_where_the_last_turn_ran() -> None:
    stage = await staged()
    await stage.play()
    await stage.play()
    assert [request.last_replica for request in stage.tutor.requests] == [None, "replica-1"]


async def test_the_tutor_hears_on_whose_behalf_it_is_asked() -> None:
    stage = await staged()
    order = replace(stage.order(), trace_parent="00-trace")
    async with stage.use.take_turn.begin(order) as turn:
        await turn.run(lambda _: None)
    asked = stage.tutor.requests[0]
    assert asked.asker == Asker(stage.scenario.id, 1, stage.trainee.account, SHARES.window)
    assert asked.trace_parent == "00-trace"


@pytest.mark.parametrize(
    ("text", "refusal"),
    [("", TextEmpty), (" \n\t\u3000", TextEmpty), ("\u200b\ufeff \u202e", TextEmpty), ("word " * 201, TextTooLong)],
)
async def test_a_text_that_cannot_be_a_turn_stores_nothing(text: str, refusal: type[Exception]) -> None:
    stage = await staged()
    with pytest.raises(refusal):
        await stage.play(text)
    assert not stage.tutor.requests
    assert await stage.turns() == []


async def test_a_foreign_session_and_a_missing_one_look_the_same() -> None:
    stage = await staged()
    other = viewer(tenant=stage.trainee.tenant)
    foreign = viewer(sees_all=True)
    for who in (other, foreign):
        with pytest.raises(SessionNotFound):
            async with stage.use.take_turn.begin(TurnOrder(who, stage.session.id, "Hello")):
                pass
    with pytest.raises(SessionNotFound):
        await stage.use.take_turn.earlier(TurnOrder(stage.trainee, SessionId(stage.trainee.tenant), "Hello"))


async def test_a_closed_session_takes_no_turn() -> None:
    stage = await staged()
    close = stage.use.close_session
    closed = await close(stage.trainee, stage.session.id)
    assert await close(stage.trainee, stage.session.id) == closed
    assert stage.tutor.forgotten
    with pytest.raises(SessionClosed):
        await stage.play()


async def test_the_scenario_bounds_the_number_of_turns_and_failed_ones_do_not_count() -> None:
    stage = await staged(max_turns=2)
    await stage.play()
    stage.tutor.script = ("Hel", broken())
    await stage.play()
    stage.tutor.script = ("Hello",)
    await stage.play()
    with pytest.raises(TurnLimitReached):
        await stage.play()


async def test_a_tutor_who_is_away_leaves_no_trace() -> None:
    stage = await staged()
    stage.tutor.refusal = TutorUnavailable("nobody", retry_after_s=2)
    with pytest.raises(TutorUnavailable):
        await stage.play()
    assert await stage.turns() == []


async def test_a_broken_reply_is_stored_as_failed_and_not_shown_to_the_tutor_again() -> None:
    stage = await staged()
    stage.tutor.script = ("Hel", broken())
    failed = await stage.play("first try")
    assert failed.state is TurnState.FAILED
    assert failed.reply == "Hel"
    assert failed.error is not None
    assert failed.error.retryable
    stage.tutor.script = ("Hello.",)
    await stage.play("second try")
    assert [message.content for message in stage.tutor.requests[-1].messages][-1] == "second try"
    assert not any("first try" in message.content for message in stage.tutor.requests[-1].messages)


async def test_a_key_finds_its_finished_turn_and_another_text_under_it_is_an_error() -> None:
    stage = await staged()
    key = IdempotencyKey("k-1", "digest-1")
    turn = await stage.play(key=key)
    assert await stage.use.take_turn.earlier(stage.order(key=key)) == turn
    with pytest.raises(IdempotencyKeyReused):
        await stage.use.take_turn.earlier(stage.order(key=IdempotencyKey("k-1", "digest-2")))
    with pytest.raises(SessionMoved):
        await stage.play(key=key)


async def test_a_failed_turn_may_be_tried_again_under_its_key() -> None:
    stage = await staged()
    key = IdempotencyKey("k-1", "digest-1")
    stage.tutor.script = (broken(),)
    await stage.play(key=key)
    assert await stage.use.take_turn.earlier(stage.order(key=key)) is None
    stage.tutor.script = ("Hello.",)
    turn = await stage.play(key=key)
    assert turn.number == 2
    assert await stage.use.take_turn.earlier(stage.order(key=key)) == turn


async def test_of_two_turns_at_once_without_a_lock_one_is_written() -> None:
    stage = await staged()
    async with stage.use.take_turn.begin(stage.order()) as one, stage.use.take_turn.begin(stage.order()) as two:
        first, second = await one.run(lambda _: None), await two.run(lambda _: None)
    assert first.state is TurnState.COMPLETED
    assert second.error is not None
    assert second.error.code == "session_moved"
    assert await stage.turns() == [first]


async def test_a_stopped_turn_keeps_what_was_released() -> None:
    stage = await staged()
    stage.tutor.script = ("Hello", asyncio.Event(), " there.")
    async with stage.use.take_turn.begin(stage.order()) as turn:
        cancelled = await turn.run(lambda _: turn.stop(Stop.CANCELLED))
    assert (cancelled.state, cancelled.reply) == (TurnState.CANCELLED, "Hello")
    assert stage.tutor.open_replies == 0
    assert await stage.turns() == [cancelled]


async def test_a_turn_stopped_before_it_listens_ends_at_once() -> None:
    stage = await staged()
    async with stage.use.take_turn.begin(stage.order()) as turn:
        turn.stop(Stop.SHUTDOWN)
        turn.stop(Stop.CANCELLED)
        ended = await turn.run(lambda _: None)
    assert ended.error is not None
    assert ended.error.code == "server_stopping"


async def test_a_turn_that_cannot_be_written_is_not_acknowledged() -> None:
    stage = await staged()
    async with stage.use.take_turn.begin(stage.order()) as turn:
        stage.records.away = True
        ended = await turn.run(lambda _: None)
    assert ended.state is TurnState.FAILED
    assert ended.error is not None
    assert ended.error.code == "records_unavailable"


ON_LARGE = ((Tier.ROLE_PLAY, "large"), (Tier.SENSITIVE, "large"))
LOST = TutorUnavailable("no replica", retry_after_s=2.0)


async def test_a_turn_tells_which_model_served_which_work() -> None:
    stage = await staged("fake", "large", tiers=ON_LARGE)
    turn = await stage.play()
    assert (turn.tier, turn.model, turn.fell_back) == (Tier.ROLE_PLAY, "large", False)
    stage.tiers.away.add("large")
    turn = await stage.play()
    assert (turn.tier, turn.model, turn.fell_back) == (Tier.ROLE_PLAY, "fake", True)
    assert [request.model for request in stage.tutor.requests] == ["large", "fake"]


async def test_a_pool_that_turns_out_to_be_lost_is_stood_in_for_in_the_same_turn() -> None:
    stage = await staged("fake", "large", tiers=ON_LARGE)
    stage.tutor.refusals["large"] = LOST
    turn = await stage.play()
    assert (turn.number, turn.model, turn.fell_back) == (1, "fake", True)
    assert [request.model for request in stage.tutor.requests] == ["large", "fake"]
    assert stage.tutor.open_replies == 0


async def test_when_the_stand_in_is_lost_too_each_was_asked_once() -> None:
    stage = await staged("fake", "large", tiers=ON_LARGE)
    stage.tutor.refusals |= {"large": LOST, "fake": TutorUnavailable("nor here", retry_after_s=3.0)}
    with pytest.raises(TutorUnavailable, match="nor here"):
        await stage.play()
    assert [request.model for request in stage.tutor.requests] == ["large", "fake"]
    assert await stage.turns() == []


async def test_a_pool_that_is_full_is_not_lost() -> None:
    stage = await staged("fake", "large", tiers=ON_LARGE)
    stage.tutor.refusals["large"] = TutorFull("full", retry_after_s=2.0)
    with pytest.raises(TutorFull):
        await stage.play()
    assert [request.model for request in stage.tutor.requests] == ["large"]


async def test_a_sensitive_turn_is_asked_of_no_other_model() -> None:
    stage = await staged("fake", "large", tiers=ON_LARGE, is_sensitive=True)
    assert (await stage.play()).tier is Tier.SENSITIVE
    stage.tutor.refusals["large"] = LOST
    with pytest.raises(PoolUnavailable) as caught:
        await stage.play()
    assert (caught.value.tier, caught.value.model) == ("sensitive", "large")
    assert {request.model for request in stage.tutor.requests} == {"large"}
