import asyncio
import time

import pytest

from gateway.cli.api_client import Api
from gateway.cli.drill_board import Board, Stage
from gateway.cli.drill_plan import DrillPlan
from gateway.cli.drill_trainee import ScriptedTrainee
from tests.integration.cli.wire_server import KEYS, ZH, WireServer, Wrong


def trainee(api: Api, board: Board, *, turns: int = 2, timeout_s: float = 5.0, think_s: float = 0.0) -> ScriptedTrainee:
    plan = DrillPlan(ZH, trainees=1, turns=turns, think_s=think_s, timeout_s=timeout_s, seed=1, lines=("one", "two"))
    return ScriptedTrainee(number=1, client=api.as_holder_of(KEYS[0]), plan=plan, board=board, clock=api.clock)


async def test_intended_moments_follow_the_reply_before_by_the_time_to_think(server: WireServer) -> None:
    board = Board(trainees=1)
    async with Api(base_url=server.base_url) as api:
        await trainee(api, board, turns=3, think_s=0.2).play()
    first, second, third = board.rows
    for before, row in ((first, second), (second, third)):
        assert before.total_s is not None
        thought = row.intended_s - before.started_s - before.total_s
        assert 0.1 <= thought <= 0.3
        assert row.started_s >= row.intended_s
    assert not board.failures
    assert board.standings()[0].stage is Stage.CLOSED


async def test_a_turn_that_took_too_long_is_cancelled_on_the_server(server: WireServer) -> None:
    server.wrong[1] = Wrong.STALL
    board = Board(trainees=1)
    async with Api(base_url=server.base_url) as api:
        await trainee(api, board, turns=1, timeout_s=0.5).play()
    (room,) = server.rooms.values()
    assert server.cancelled == [(room.id, 1)]
    assert [row.failure.code for row in board.rows if row.failure is not None] == ["timed_out"]
    assert [failure.code for failure in board.failures] == ["stored_turns"]
    assert room.state == "closed"


async def test_one_who_is_stopped_while_a_turn_runs_leaves_nothing_open(server: WireServer) -> None:
    server.wrong[1] = Wrong.STALL
    board = Board(trainees=1)
    async with Api(base_url=server.base_url) as api, asyncio.TaskGroup() as group:
        playing = group.create_task(trainee(api, board).play())
        assert await asyncio.to_thread(server.reached.wait, 10)
        playing.cancel()
    (room,) = server.rooms.values()
    assert server.cancelled == [(room.id, 1)]
    assert room.state == "closed"
    assert board.standings()[0].stage is Stage.STOPPED
    assert not board.failures


@pytest.mark.parametrize("after_s", [0.0, 0.001, 0.005, 0.01, 0.02, 0.05])
async def test_one_who_is_stopped_at_any_moment_leaves_nothing_open(server: WireServer, after_s: float) -> None:
    server.delay_s = 0.05
    board = Board(trainees=1)
    async with Api(base_url=server.base_url) as api, asyncio.TaskGroup() as group:
        playing = group.create_task(trainee(api, board).play())
        await asyncio.sleep(after_s)
        playing.cancel()
    assert all(room.state == "closed" for room in server.rooms.values())
    assert not board.failures


async def test_a_session_that_never_starts_is_one_failure(server: WireServer) -> None:
    server.refuse_starts = True
    board = Board(trainees=1)
    async with Api(base_url=server.base_url) as api:
        await trainee(api, board).play()
    assert [failure.code for failure in board.failures] == ["no_seat"]
    assert not board.rows
    assert board.standings()[0].stage is Stage.BROKEN


async def test_a_server_that_has_gone_does_not_hold_a_trainee_up() -> None:
    board = Board(trainees=1)
    begun = time.monotonic()
    async with Api(base_url="http://127.0.0.1:1") as api:
        await trainee(api, board).play()
    assert {failure.code for failure in board.failures} <= {"unreachable", "not_closed"}
    assert board.failures[0].code == "unreachable"
    assert time.monotonic() - begun < 5


async def test_a_session_is_closed_once_a_server_that_went_away_is_back(server: WireServer) -> None:
    server.unreachable_closes = 2
    board = Board(trainees=1)
    async with Api(base_url=server.base_url) as api:
        await trainee(api, board).play()
    assert not board.failures
    assert {room.state for room in server.rooms.values()} == {"closed"}
