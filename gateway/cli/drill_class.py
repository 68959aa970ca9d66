"""A whole class of scripted trainees at one bell."""

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from gateway.cli.api_client import Api
from gateway.cli.drill_board import Board
from gateway.cli.drill_plan import DrillPlan
from gateway.cli.drill_trainee import ScriptedTrainee


async def play_class(
    plan: DrillPlan, *, api: Api, keys: Sequence[str], board: Board, clock: Callable[[], float]
) -> bool:
    """Until all trainees are through; whether they were, rather than being stopped by a signal."""
    with _stop_on_signals() as stop:
        async with asyncio.TaskGroup() as group:
            players = [
                group.create_task(
                    ScriptedTrainee(
                        number=number,
                        client=api.as_holder_of(keys[(number - 1) % len(keys)]),
                        plan=plan,
                        board=board,
                        clock=clock,
                    ).play()
                )
                for number in range(1, plan.trainees + 1)
            ]
            watcher = group.create_task(_cancel_at(stop, players))
            await asyncio.wait(players)
            watcher.cancel()
        return not stop.is_set()


async def _cancel_at(stop: asyncio.Event, players: Sequence[asyncio.Task[None]]) -> None:
    await stop.wait()
    for player in players:
        player.cancel()


@contextmanager
def _stop_on_signals() -> Iterator[asyncio.Event]:
    """The first signal asks the trainees to leave; a second one ends the program as it always would."""
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    taken = (signal.SIGINT, signal.SIGTERM)

    def release() -> None:
        for number in taken:
            loop.remove_signal_handler(number)

    def asked() -> None:
        stop.set()
        release()

    for number in taken:
        loop.add_signal_handler(number, asked)
    try:
        yield stop
    finally:
        release()
