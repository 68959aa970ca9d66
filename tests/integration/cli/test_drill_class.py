import asyncio
import os
import signal

from gateway.cli.api_client import Api
from gateway.cli.drill_board import Board, Stage
from gateway.cli.drill_class import play_class
from gateway.cli.drill_plan import DrillPlan
from tests.integration.cli.wire_server import KEYS, ZH, WireServer, Wrong


def plan(*, trainees: int) -> DrillPlan:
    return DrillPlan(ZH, trainees=trainees, turns=2, think_s=0.0, timeout_s=30.0, seed=1, lines=("one", "two"))


async def test_a_class_plays_at_the_same_time(server: WireServer) -> None:
    server.delay_s = 0.2
    board = Board(trainees=20)
    async with Api(base_url=server.base_url) as api:
        assert await play_class(plan(trainees=20), api=api, keys=KEYS, board=board, clock=api.clock)
    assert len(board.rows) == 40
    assert not [row for row in board.rows if row.failure is not None]
    started = [row.started_s for row in board.rows if row.turn == 1]
    ended = [row.started_s + (row.total_s or 0) for row in board.rows if row.turn == 1]
    assert max(started) < min(ended)


async def test_a_signal_stops_the_class_and_gives_the_signals_back(server: WireServer) -> None:
    server.wrong[1] = Wrong.STALL
    board = Board(trainees=3)
    before = signal.getsignal(signal.SIGTERM)
    async with Api(base_url=server.base_url) as api, asyncio.TaskGroup() as group:
        playing = group.create_task(play_class(plan(trainees=3), api=api, keys=KEYS, board=board, clock=api.clock))
        assert await asyncio.to_thread(server.reached.wait, 10)
        os.kill(os.getpid(), signal.SIGTERM)
        assert await playing is False
    assert {standing.stage for standing in board.standings()} == {Stage.STOPPED}
    assert {room.state for room in server.rooms.values()} == {"closed"}
    assert signal.getsignal(signal.SIGTERM) == before
