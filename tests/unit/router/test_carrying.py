"""One call through the loss of its replicas, in bytes."""

import asyncio
import json
from dataclasses import replace

import pytest

from router.carrying import Carried
from router.domain.asks import Asks
from router.domain.chat_call import chat_call
from router.domain.exchange import Call, Finished, TextPiece
from router.domain.fleet import AffinityKey, Health, ReplicaId
from router.domain.pin_key import pin_key
from router.errors import (
    EngineBroke,
    EngineBusy,
    EngineConnectLate,
    EngineError,
    EngineRejected,
    EngineTimedOut,
    EngineUnreachable,
)
from router.settings import EngineKind, RouterSettings
from router.tally import MoveReason, Takeover
from tests.support.fake_engine import PIECES, REPLY, WHOLE_BODY
from tests.support.rival_pins import RivalPins
from tests.support.router_house import KEY, MODEL, REQUEST, A, B, C, House

STREAMED = chat_call(REQUEST)
WHOLE = replace(STREAMED, body=STREAMED.body.replace(b'"stream":true', b'"stream":false'), is_streamed=False)
EVENTS = len(PIECES) + 4
"""Role, pieces, finish, usage, `[DONE]`."""


def text_of(data: bytes) -> str:
    events = [line.removeprefix(b"data: ") for line in data.split(b"\n") if line.startswith(b"data: {")]
    choices = [choice for event in events for choice in json.loads(event)["choices"]]
    return "".join(choice["delta"].get("content") or "" for choice in choices)


async def settled(settings: RouterSettings | None = None) -> tuple[House, ReplicaId]:
    house = House(settings=settings)
    return house, (await house.turn())[0]


async def opened(house: House, call: Call = STREAMED, *, asks: Asks | None = None) -> Carried:
    return await house.router.carry(call, session=KEY, asks=Asks() if asks is None else asks)


async def rest_of(carried: Carried) -> bytes:
    parts: list[bytes] = []
    while data := await carried.read():
        parts.append(data)
    return b"".join(parts)


async def test_an_undisturbed_stream_passes_byte_for_byte() -> None:
    house, home = await settled()
    carried = await opened(house)
    assert (carried.replica, carried.content_type) == (home, "text/event-stream; charset=utf-8")
    data = await rest_of(carried)
    assert text_of(data) == REPLY
    assert data.count(b'"finish_reason":"stop"') == data.count(b"[DONE]") == 1
    assert carried.continued == 0
    assert house.is_idle(), "the end of the reply gives everything back"


@pytest.mark.parametrize("kind", [EngineBroke, EngineTimedOut, EngineUnreachable])
@pytest.mark.parametrize("events", range(EVENTS))
async def test_a_replica_lost_after_any_event_costs_no_character(kind: type[EngineError], events: int) -> None:
    house, home = await settled()
    house.fake.fails(home, kind(home, "lost"), after_events=events)
    carried = await opened(house)
    data = await rest_of(carried)
    assert text_of(data) == REPLY
    assert data.count(b'"finish_reason":"stop"') == data.count(b"[DONE]") == 1
    assert house.is_idle()
    # The role alone is nothing; once the finish was heard nothing is left to be said.
    assert carried.continued == int(1 < events < EVENTS - 1)
    assert len(await house.router.pins(KEY)) == 1


async def test_a_connection_that_is_lost_after_the_end_costs_nothing() -> None:
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "reset"), after_events=EVENTS)
    carried = await opened(house)
    assert text_of(await rest_of(carried)) == REPLY
    assert (house.tally.attempts, carried.replica) == ({(home, "completed"): 2}, home)


@pytest.mark.parametrize("events", range(EVENTS))
async def test_a_stream_that_ends_as_if_it_were_whole_is_noticed(events: int) -> None:
    house, home = await settled()
    house.fake.ends_early(home, after_events=events)
    carried = await opened(house)
    data = await rest_of(carried)
    assert text_of(data) == REPLY
    assert data.count(b"[DONE]") == 1
    assert house.tally.attempts[home, "EngineBroke"] == 1
    assert house.is_idle()


async def test_a_second_loss_is_survived_too() -> None:
    house, home = await settled(RouterSettings(max_attempts=3))
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)
    carried = await opened(house)
    others = sorted({A, B, C} - {home})
    for replica in others:
        house.fake.fails(replica, EngineBroke(replica, "cut off"), after_events=3)
    parts = [await carried.read()]
    while carried.replica == home:
        parts.append(await carried.read())
    second = carried.replica
    house.fake.heal()  # those that answer already fail all the same
    parts.append(await rest_of(carried))
    assert text_of(b"".join(parts)) == REPLY
    assert carried.continued == 2
    assert len({home, second, carried.replica}) == 3


async def test_no_more_replicas_are_asked_for_one_reply_than_allowed() -> None:
    house, _ = await settled(RouterSettings(max_attempts=2))
    for replica in (A, B, C):
        house.fake.fails(replica, EngineBroke(replica, "cut off"), after_events=3)
    with pytest.raises(EngineBroke):
        await rest_of(await opened(house))
    assert len(house.fake.asked) == 1 + 2
    assert house.is_idle()


async def test_a_continued_reply_says_where_it_went_on() -> None:
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)
    carried = await opened(house)
    data = await rest_of(carried)
    assert carried.replica != home
    assert f': drillyard {{"continued":1,"replica":"{carried.replica}"}}'.encode() in data
    decision = await house.router.decision(REQUEST.request_id)
    assert decision is not None
    assert [(each.replica, each.outcome, each.continued) for each in decision.attempts] == [
        (home, "EngineBroke", False),
        (carried.replica, "completed", True),
    ]
    assert house.tally.takeovers == {Takeover.CONTINUED: 1}


async def test_a_chat_without_a_limit_may_be_continued_by_tokens_up_to_its_replicas_window() -> None:
    house, home = await settled()
    house.fleet.change(home, window_tokens=4096)
    carried = await opened(house)
    assert carried._relay is not None
    assert carried._relay.window_tokens == 4096
    carried.close()


async def test_who_wants_no_continuation_gets_the_error_but_is_asked_for_anew_before_the_first_word() -> None:
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=1)
    assert text_of(await rest_of(await opened(house, asks=Asks(may_continue=False)))) == REPLY
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=2)
    carried = await opened(house, asks=Asks(may_continue=False))
    assert text_of(await carried.read()) == PIECES[0]
    with pytest.raises(EngineBroke):
        await carried.read()
    assert house.is_idle()
    assert await carried.read() == b""


@pytest.mark.parametrize(("engine", "lost"), [(EngineKind.VLLM, 1), (EngineKind.OPENAI, 1), (EngineKind.OPENAI, 2)])
async def test_what_is_all_there_needs_no_continuation(engine: EngineKind, lost: int) -> None:
    """Only the `[DONE]` is lost, or the usage too, which other engines need not tell."""
    house, home = await settled(RouterSettings(engine=engine, continue_replies=False, retry_floor=0, retry_share=0.0))
    house.fake.fails(home, EngineTimedOut(home, "silent"), after_events=EVENTS - lost)
    data = await rest_of(await opened(house))
    assert text_of(data) == REPLY
    assert data.count(b'"finish_reason":"stop"') == data.count(b"[DONE]") == 1
    assert (house.fake.asked, house.tally.takeovers) == ([home, home], {Takeover.COMPLETED: 1})
    assert house.is_idle()


async def test_a_usage_that_vllm_has_not_told_is_missed() -> None:
    house, home = await settled(RouterSettings(continue_replies=False))
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=EVENTS - 2)
    with pytest.raises(EngineBroke):
        await rest_of(await opened(house))
    assert house.is_idle()


async def test_a_replica_that_refuses_our_call_for_the_rest_has_not_rejected_the_caller() -> None:
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)
    carried = await opened(house)
    for replica in {A, B, C} - {home}:
        house.fake.refuses(EngineRejected(replica, "cannot continue"))
    with pytest.raises(EngineBroke, match="refused to continue"):
        await rest_of(carried)


async def test_a_reply_that_cannot_be_continued_ends_with_the_error_of_its_replica() -> None:
    house, home = await settled()
    house.fake.fails(home, EngineTimedOut(home, "silent"), after_events=3)
    call = replace(STREAMED, body=STREAMED.body[:-1] + b',"response_format":{"type":"json_object"},"temperature":1}')
    carried = await opened(house, call)
    with pytest.raises(EngineTimedOut):
        await rest_of(carried)
    assert house.tally.takeovers == {Takeover.STUCK: 1}
    assert house.is_idle()


async def test_a_reply_that_was_whole_needs_no_other_replica() -> None:
    house, home = await settled()
    house.take_down(*{A, B, C} - {home})
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=EVENTS - 1)
    assert text_of(data := await rest_of(await opened(house))) == REPLY
    assert data.endswith(b"data: [DONE]\n\n")
    assert house.is_idle()


async def test_without_another_replica_the_error_is_that_of_the_last_one() -> None:
    house, home = await settled()
    house.take_down(*{A, B, C} - {home})
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)
    carried = await opened(house)
    with pytest.raises(EngineBroke) as caught:
        await rest_of(carried)
    assert caught.value.replica == home
    assert house.is_idle()


async def test_a_whole_answer_comes_in_one_piece() -> None:
    house, home = await settled()
    carried = await opened(house, WHOLE)
    assert (carried.replica, carried.content_type) == (home, "application/json")
    assert [await carried.read(), await carried.read()] == [WHOLE_BODY, b""]
    assert house.is_idle()


@pytest.mark.parametrize("events", range(3))
async def test_a_whole_answer_that_breaks_is_asked_for_anew(events: int) -> None:
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=events)
    assert await rest_of(await opened(house, WHOLE)) == WHOLE_BODY
    assert house.tally.retries == 1
    assert house.is_idle()


async def test_a_whole_answer_that_nobody_gives_is_an_error() -> None:
    house = House()
    for replica in (A, B, C):
        house.fake.fails(replica, EngineBroke(replica, "cut off"), after_events=1)
    with pytest.raises(EngineBroke):
        await rest_of(await opened(house, WHOLE))
    assert house.is_idle()


async def test_the_time_of_a_reply_is_that_of_all_its_replicas_together() -> None:
    house, home = await settled(RouterSettings(total_timeout_s=0.2))
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)
    for replica in {A, B, C} - {home}:
        house.fake.fails(replica, None, after_events=2)
    carried = await opened(house)
    with pytest.raises(EngineTimedOut, match=r"longer than 0\.2 s"):
        await rest_of(carried)
    assert len(house.fake.asked) == 3
    assert house.is_idle()


async def test_a_replica_that_never_takes_the_rest_is_bounded_too() -> None:
    house, home = await settled(RouterSettings(total_timeout_s=0.2))
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)
    house.fake.frozen = {A, B, C} - {home}
    carried = await opened(house)
    with pytest.raises(EngineTimedOut):
        await rest_of(carried)
    assert house.is_idle()


async def test_when_the_budget_is_spent_the_error_stands() -> None:
    house, home = await settled(RouterSettings(retry_floor=0, retry_share=0.0))
    house.fake.refuses(EngineBusy(home, "overloaded"))
    with pytest.raises(EngineBusy):
        await opened(house)
    assert house.tally.budget_exhausted == 1
    house.fake.heal()
    house.fake.fails(home, EngineTimedOut(home, "silent"), after_events=3)
    assert text_of(await rest_of(await opened(house))) == REPLY, "a reply that has begun is worth more"
    assert house.is_idle()


async def test_a_class_that_leaves_a_lost_replica_uses_up_nobody_elses_budget() -> None:
    house = House(settings=RouterSettings(retry_floor=1, retry_share=0.0))
    sessions = [AffinityKey(f"s-{number}") for number in range(9)]
    for each in sessions:
        await house.read(STREAMED, session=each)
    house.fake.refuses(EngineUnreachable(A, "refused"))
    for each in sessions:
        assert text_of(await house.read(STREAMED, session=each)) == REPLY
    house.fake.heal()
    home = (await house.turn())[0]
    house.fake.refuses(EngineBusy(home, "overloaded"))
    assert text_of(await house.read(STREAMED)) == REPLY, "what is paid for is there still"
    assert (house.tally.retries >= 2, house.tally.budget_exhausted) == (True, 0)


async def test_connections_that_come_late_open_the_breaker_and_take_no_replica_down() -> None:
    house, home = await settled(RouterSettings(breaker_failures=3))
    house.fake.refuses(EngineConnectLate(home, "no connection within 2 s"))
    for number in range(1, 4):
        await house.router.end(KEY)
        assert text_of(await house.read(STREAMED, asks=Asks(prefer=home))) == REPLY
        assert house.router.numbers().breakers_open == (frozenset() if number < 3 else {home})
    assert (house.fleet.late, house.fleet.failures, len(house.router.fleet().ready)) == ([home] * 3, [], 3)


async def test_fifty_wrong_requests_open_no_breaker() -> None:
    house, home = await settled()
    house.fake.refuses(EngineRejected(home, "too long"))
    for _ in range(50):
        with pytest.raises(EngineRejected):
            await opened(house)
    assert house.router.numbers().breakers_open == frozenset()
    house.fake.heal()
    assert (await house.turn())[0] == home


async def test_a_replica_that_fails_again_and_again_is_left_alone_and_then_tried_once() -> None:
    now = [1_000.0]
    house = House(clock=lambda: now[0], settings=RouterSettings(breaker_failures=3, breaker_open_s=5.0))
    for number in range(3):
        house.fake.refuses(EngineBusy(A, "broken", status=500))
        await house.router.end(KEY)
        await house.turn(asks=Asks(prefer=A))
        assert house.router.numbers().breakers_open == (frozenset() if number < 2 else {A})
    await house.router.end(KEY)
    house.fake.asked.clear()
    assert (await house.turn(asks=Asks(prefer=A)))[0] != A
    assert A not in house.fake.asked
    now[0] += 5.0
    house.fake.heal()
    await house.router.end(KEY)
    carried = await opened(house, asks=Asks(prefer=A))
    assert carried.replica == A
    assert house.router.numbers().breakers_open == {A}
    await carried.read()
    assert house.router.numbers().breakers_open == frozenset(), "its first piece lets the others in"
    await rest_of(carried)
    assert house.is_idle()


async def test_a_trial_that_is_not_needed_leaves_its_place_to_the_next() -> None:
    now = [1_000.0]
    house = House(clock=lambda: now[0], settings=RouterSettings(breaker_failures=1, breaker_open_s=5.0))
    house.take_down(C)
    house.fake.refuses(EngineBusy(A, "broken", status=500))
    await house.turn(asks=Asks(prefer=A))
    now[0] += 5.0
    house.fake.heal()
    house.fake.fails(B, EngineTimedOut(B, "silent"), after_events=3)
    call = replace(STREAMED, body=STREAMED.body[:-1] + b',"response_format":{"type":"json_object"},"temperature":1}')
    with pytest.raises(EngineTimedOut):
        await rest_of(await opened(house, call))
    house.fake.heal()
    house.fleet.change(B, health=Health.DOWN)
    assert (await house.turn())[0] == A


async def test_a_reply_is_handed_over_at_its_next_piece() -> None:
    house, home = await settled()
    carried = await opened(house)
    parts = [await carried.read()]
    carried.hand_over()
    parts.append(await rest_of(carried))
    assert text_of(b"".join(parts)) == REPLY
    assert (carried.continued, carried.replica != home) == (1, True)
    assert house.tally.attempts[home, "handed over"] == 1
    assert (house.tally.moves, house.router.numbers().breakers_open) == ({MoveReason.HANDED_OVER: 1}, frozenset())
    assert house.is_idle()


async def test_a_reply_that_has_not_begun_is_handed_over_as_a_whole() -> None:
    house, home = await settled()
    carried = await opened(house)
    carried.hand_over()
    assert text_of(await rest_of(carried)) == REPLY
    assert (carried.continued, carried.replica != home) == (0, True)
    assert house.is_idle()


async def test_a_reply_that_nobody_else_can_take_stays_where_it_is() -> None:
    house, home = await settled()
    house.take_down(*{A, B, C} - {home})
    carried = await opened(house)
    parts = [await carried.read()]
    carried.hand_over()
    parts.append(await rest_of(carried))
    assert (text_of(b"".join(parts)), carried.replica) == (REPLY, home)
    assert house.is_idle()


async def test_a_reply_under_a_schema_is_not_handed_over_in_its_middle() -> None:
    house, home = await settled()
    body = STREAMED.body[:-1] + b',"response_format":{"type":"json_object"},"temperature":1}'
    carried = await opened(house, replace(STREAMED, body=body))
    parts = [await carried.read()]
    carried.hand_over()
    parts.append(await rest_of(carried))
    assert text_of(b"".join(parts)) == REPLY
    assert house.tally.attempts[home, "completed"] == 2
    assert house.is_idle()


async def test_a_reply_whose_caller_wants_no_continuation_is_not_handed_over_in_its_middle() -> None:
    house, home = await settled()
    carried = await opened(house, asks=Asks(may_continue=False))
    parts = [await carried.read()]
    carried.hand_over()
    parts.append(await rest_of(carried))
    assert (text_of(b"".join(parts)), carried.replica) == (REPLY, home)


async def test_the_replica_that_takes_a_handed_over_reply_may_fail_as_well() -> None:
    house, home = await settled(RouterSettings(max_attempts=3))
    carried = await opened(house)
    parts = [await carried.read()]
    for replica in {A, B, C} - {home}:
        house.fake.refuses(EngineUnreachable(replica, "refused"))
    carried.hand_over()
    with pytest.raises(EngineUnreachable):
        await rest_of(carried)
    assert house.is_idle()
    assert parts


async def test_a_reply_that_is_whole_is_not_handed_over() -> None:
    house, home = await settled()
    carried = await opened(house)
    data = b""
    while not data.endswith(b"[DONE]\n\n"):
        data += await carried.read()
    carried.hand_over()
    assert await carried.read() == b""
    assert carried.replica == home
    assert house.tally.attempts[home, "completed"] == 2
    assert house.is_idle()


async def test_a_reply_of_which_nothing_is_missing_ends_where_it_is_handed_over() -> None:
    house, home = await settled()
    carried = await opened(house)

    def hand_over(_: ReplicaId, events: int) -> None:
        if events == EVENTS - 2:
            carried.hand_over()

    house.fake.on_read = hand_over
    data = await rest_of(carried)
    assert text_of(data) == REPLY
    assert data.count(b"[DONE]") == data.count(b'"finish_reason":"stop"') == 1
    assert (house.fake.asked, carried.replica) == ([home, home], home)
    assert house.is_idle()


async def test_a_reply_for_which_no_place_is_found_stays_where_it_is() -> None:
    house = House(pins=RivalPins(A, times=1_000))
    carried = await opened(house)
    assert carried.replica == A
    parts = [await carried.read()]
    carried.hand_over()
    parts.append(await rest_of(carried))
    assert (text_of(b"".join(parts)), carried.replica) == (REPLY, A)
    assert house.is_idle()


async def test_a_closed_call_can_neither_be_read_nor_handed_over_nor_closed_again() -> None:
    house, _ = await settled()
    carried = await opened(house)
    for _ in range(3):
        carried.close()
    carried.hand_over()
    assert await carried.read() == b""
    assert house.is_idle()


@pytest.mark.parametrize("steps", range(30))
async def test_a_call_may_be_closed_while_another_task_reads_it(steps: int) -> None:
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)
    carried = await opened(house)
    async with asyncio.TaskGroup() as group:
        group.create_task(rest_of(carried))
        for _ in range(steps):
            await asyncio.sleep(0)
        carried.close()
    assert house.is_idle()


@pytest.mark.parametrize("steps", range(40))
async def test_a_reply_cancelled_at_any_step_of_its_recovery_gives_everything_back(steps: int) -> None:
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=3)

    async def read() -> None:
        carried = await opened(house)
        try:
            await rest_of(carried)
        finally:
            carried.close()

    task = asyncio.ensure_future(read())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert house.is_idle()


async def test_the_last_prompt_of_a_session_is_remembered_once_its_turn_is_complete() -> None:
    house = House()
    carried = await opened(house)
    assert house.prompts.get(pin_key(MODEL, KEY)) is None
    await rest_of(carried)
    assert house.prompts.get(pin_key(MODEL, KEY)) == STREAMED


async def test_a_call_without_a_session_is_carried_and_not_remembered() -> None:
    house = House()
    assert text_of(await house.read(STREAMED, session=None)) == REPLY
    assert (house.tally.unpinned, len(house.prompts)) == (1, 0)
    assert await house.router.pins(KEY) == {}


async def test_the_text_of_a_turn_survives_too() -> None:
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "cut off"), after_events=4)
    _, _, items = await house.turn()
    assert "".join(item.text for item in items if isinstance(item, TextPiece)) == REPLY
    assert isinstance(items[-1], Finished)


class Ear:
    """A caller to whom ordinary events are given at once, every other time when it is slow."""

    def __init__(self, *, is_slow: bool = False) -> None:
        self.given = 0
        self._is_slow = is_slow
        self._asked = 0
        self._parts: list[bytes] = []

    def __call__(self, data: bytes) -> bool:
        self._asked += 1
        if self._is_slow and self._asked % 2:
            return False
        self.given += 1
        self._parts.append(data)
        return True

    async def listen(self, carried: Carried) -> bytes:
        carried.short_cut(self)
        while data := await carried.read():
            self._parts.append(data)
        return b"".join(self._parts)


@pytest.mark.parametrize("is_slow", [False, True])
async def test_what_is_given_at_once_keeps_its_place(is_slow: bool) -> None:
    house, _ = await settled()
    plain = await rest_of(await opened(house))
    ear = Ear(is_slow=is_slow)
    assert await ear.listen(await opened(house)) == plain
    all_but_the_first = len(PIECES) - 1
    assert 0 < ear.given < all_but_the_first if is_slow else ear.given == all_but_the_first
    assert house.is_idle()


@pytest.mark.parametrize("events", range(EVENTS))
async def test_what_was_given_at_once_is_not_said_again_when_a_replica_is_lost(events: int) -> None:
    house, home = await settled()
    house.fake.fails(home, EngineBroke(home, "lost"), after_events=events)
    data = await Ear().listen(await opened(house))
    assert text_of(data) == REPLY
    assert data.count(b'"finish_reason":"stop"') == data.count(b"[DONE]") == 1
    assert house.is_idle()


@pytest.mark.parametrize("event", range(2, len(PIECES)))
async def test_a_reply_given_at_once_is_handed_over_at_its_next_piece_too(event: int) -> None:
    house, home = await settled()
    carried = await opened(house)

    def hand_over(replica: ReplicaId, events: int) -> None:
        if replica == home and events == event:
            carried.hand_over()

    house.fake.on_read = hand_over
    assert text_of(await Ear().listen(carried)) == REPLY
    assert (carried.continued, carried.replica != home) == (1, True)
    assert house.is_idle()


async def test_a_whole_answer_knows_no_short_cut() -> None:
    house, _ = await settled()
    ear = Ear()
    assert await ear.listen(await opened(house, WHOLE)) == WHOLE_BODY
    assert ear.given == 0
