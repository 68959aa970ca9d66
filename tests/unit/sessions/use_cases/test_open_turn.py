"""How a turn that has begun comes to its end, and what is written of it."""

import asyncio

from sessions.domain.turn import TurnState
from sessions.use_cases.open_turn import Stop
from tests.support.session_fakes import Handover
from tests.support.stage import staged


async def test_what_is_released_is_what_is_stored() -> None:
    stage, released = await staged(), list[str]()
    stage.tutor.script = ("He", "llo", " – ", "再见", "")
    async with stage.use.take_turn.begin(stage.order()) as turn:
        stored = await turn.run(released.append)
    assert "".join(released) == stored.reply == "Hello – 再见"


async def test_a_reply_without_text_is_a_turn_that_the_tutor_forgets() -> None:
    stage = await staged()
    stage.tutor.script = ()
    turn = await stage.play("first")
    assert (turn.state, turn.reply, turn.timings.ttft_ms) == (TurnState.COMPLETED, "", None)
    await stage.play("second")
    assert not any("first" in message.content for message in stage.tutor.requests[-1].messages)


async def test_a_reply_that_was_taken_over_names_where_it_ended() -> None:
    stage = await staged()
    stage.tutor.script = ("Hel", Handover("replica-2"), "lo.")
    turn = await stage.play()
    assert (turn.state, turn.reply, turn.replica, turn.continued) == (TurnState.COMPLETED, "Hello.", "replica-2", True)
    stage.tutor.script = ("Bye.",)
    assert not (await stage.play()).continued
    assert stage.tutor.requests[-1].last_replica == "replica-2"


async def test_a_stop_after_the_end_changes_nothing() -> None:
    stage = await staged()
    async with stage.use.take_turn.begin(stage.order()) as turn:
        stored = await turn.run(lambda _: None)
        turn.stop(Stop.CANCELLED)
    assert stored.state is TurnState.COMPLETED


async def test_a_shutdown_stores_what_there_was_and_asks_to_try_again() -> None:
    stage = await staged()
    stage.tutor.script = ("Hel", asyncio.Event())
    async with stage.use.take_turn.begin(stage.order()) as turn:
        stored = await turn.run(lambda _: turn.stop(Stop.SHUTDOWN))
    assert (stored.state, stored.reply) == (TurnState.FAILED, "Hel")
    assert stored.error is not None
    assert stored.error.retryable
    assert await stage.turns() == [stored]
