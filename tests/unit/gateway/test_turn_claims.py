"""What a turn is counted as before it has run."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from gateway.adapters.memory_limit_rows import MemoryLimitRows
from gateway.current_limits import CurrentLimits
from gateway.domain.limits import AccountLimits, Claim, DrillLimits
from gateway.limit_settings import LimitSettings
from gateway.turn_claims import Guesses, TurnClaims
from sessions.domain.drill import DrillId
from sessions.domain.session import SessionId
from sessions.domain.turn import Usage
from sessions.errors import SessionNotFound
from sessions.use_cases.start_session import SessionOrder
from tests.support.drill_world import plan
from tests.support.session_fakes import START, FakeClock, viewer
from tests.support.stage import Stage, staged


def claims_of(stage: Stage, clock: FakeClock) -> TurnClaims:
    return TurnClaims(
        read_session=stage.use.read_session,
        drills=stage.outside.drills,
        limits=CurrentLimits(settings=LimitSettings(), store=MemoryLimitRows(), clock=clock.ticks),
        guesses=Guesses(prompt_tokens=1000, reply_tokens=256, cache_s=5),
        clock=clock.ticks,
    )


async def in_a_drill(stage: Stage) -> DrillId:
    """Puts the stage's trainee into a session of a drill."""
    hours = timedelta(hours=1)
    wanted = plan(scenario=stage.scenario.id, starts_at=START, ends_at=START + hours, seats=3, walk_ins=1)
    drill = await stage.use.create_drill(stage.author, wanted)
    order = SessionOrder(stage.trainee, stage.scenario.id, {}, drill=drill.id)
    stage.session = await stage.use.start_session(order)
    return drill.id


async def test_a_turn_is_guessed_by_its_text_and_the_settings() -> None:
    stage, clock = await staged(), FakeClock()
    assert await claims_of(stage, clock)(stage.order("x" * 41)) == Claim(
        tenant=stage.trainee.tenant,
        account=stage.trainee.account,
        limits=AccountLimits(600, 120, None, None, 64),
        input_tokens=1020,
        output_tokens=256,
        session=stage.session.id,
    )


async def test_what_the_last_turn_came_to_is_the_better_guess() -> None:
    stage, clock = await staged(), FakeClock()
    claims = claims_of(stage, clock)
    await claims(stage.order())
    claims.learn(stage.session.id, Usage(70, 0, 11))
    claims.learn(SessionId(uuid4()), Usage(9, 9, 9))
    assert (await claims(stage.order("xx"))).input_tokens == 82


async def test_a_drill_gives_its_limits_as_they_are_now() -> None:
    stage, clock = await staged(), FakeClock()
    drill = await in_a_drill(stage)
    claims = claims_of(stage, clock)
    claim = await claims(stage.order())
    assert (claim.drill, claim.drill_limits) == (drill, DrillLimits(3, 1, 20))
    known = await stage.use.read_drill(stage.author, drill)
    await stage.use.change_drill(stage.author, drill, replace(known.plan, turns_in_flight=4))
    assert (await claims(stage.order())).drill_limits.turns_in_flight == 20
    clock.advance(5.1)
    assert (await claims(stage.order())).drill_limits.turns_in_flight == 4


async def test_nobody_else_s_session_is_counted() -> None:
    stage, clock = await staged(), FakeClock()
    with pytest.raises(SessionNotFound):
        await claims_of(stage, clock)(replace(stage.order(), viewer=viewer()))


async def test_without_a_database_a_session_that_was_not_seen_counts_to_no_drill() -> None:
    stage, clock = await staged(), FakeClock()
    drill = await in_a_drill(stage)
    seen, unseen = claims_of(stage, clock), claims_of(stage, clock)
    await seen(stage.order())
    stage.records.away = True
    assert (await seen(stage.order())).drill == drill
    assert (await unseen(stage.order())).drill is None
    stage.records.away = False
    assert (await unseen(stage.order())).drill == drill
