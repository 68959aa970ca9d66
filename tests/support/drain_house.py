"""A drain in this process: routers that share pins and a board whose clock is turned by hand."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from router.domain.board import Board, RouterId
from router.domain.fleet import AffinityKey, ReplicaId
from router.domain.pin import Pin
from router.domain.pin_key import pin_key
from router.mover import Mover, MoverParts
from router.orders import FleetOrders, FleetSources, Orders
from router.ports import FleetBoard
from router.settings import RouterSettings
from tests.support.fragile_board import FragileBoard
from tests.support.fragile_pins import FragilePins
from tests.support.router_house import MODEL, House


class HandClock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class DrainHouse(House):
    """One router process: it carries turns, hears orders and moves sessions."""

    def __init__(
        self, name: str, *, board: FleetBoard, pins: FragilePins, settings: RouterSettings | None = None
    ) -> None:
        super().__init__(pins=pins, settings=settings)
        self.name = RouterId(name)
        parts = MoverParts(self.pins, self.fleet, self.prewarming, self.prompts, self.in_flight)
        self.mover = Mover(parts, router=self.name)
        self.orders = Orders(
            board=board,
            router=self.name,
            obey=(self._obey, self.mover.saw),
            in_flight=self.book.own,
            settings=self.settings,
        )
        self.fleet_orders = FleetOrders(FleetSources(board, self.fleet, self.pins, self.book.own), self.settings)

    async def has_turns(self, keys: Iterable[AffinityKey]) -> None:
        for key in keys:
            await self.turn(key)

    def _obey(self, board: Board) -> None:
        for replica in self.fleet.current().replicas:
            self.fleet.change(replica.id, is_draining=replica.id in board.drains)


async def settled() -> None:
    """Return when all that needs nothing but the event loop has been done."""
    for _ in range(20):
        await asyncio.sleep(0)


class Routers:
    """Several of them over one board and one pin store."""

    def __init__(self, *names: str, settings: RouterSettings | None = None) -> None:
        self.clock = HandClock()
        self.board = FragileBoard(clock=self.clock)
        self.pins = FragilePins()
        self.houses = [DrainHouse(name, board=self.board, pins=self.pins, settings=settings) for name in names]

    @property
    def first(self) -> DrainHouse:
        return self.houses[0]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(work) for house in self.houses for work in (house.prewarming.run(), house.mover.run())
            ]
            await asyncio.sleep(0)
            yield
            for task in tasks:
                task.cancel()

    async def hear(self, *, after_s: float = 0.0) -> None:
        self.clock.now += after_s
        for house in self.houses:
            await house.orders.take_round()

    async def left_at(self, replica: ReplicaId) -> int:
        return (await self.pins.loads([replica]))[replica].sessions

    async def hear_until_empty(self, replica: ReplicaId, *, rounds: int = 200) -> None:
        """The board is read over and over, which takes no time on its clock."""
        for _ in range(rounds):
            await self.hear()
            await settled()
            if not await self.left_at(replica):
                return
        raise AssertionError(f"{await self.left_at(replica)} sessions are left")

    async def pin(self, key: AffinityKey) -> Pin | None:
        return await self.pins.get(pin_key(MODEL, key))


def sessions(count: int) -> list[AffinityKey]:
    return [AffinityKey(f"session-{number}") for number in range(count)]
