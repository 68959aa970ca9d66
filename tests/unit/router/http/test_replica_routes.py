"""What operators see of the fleet and order of it, over HTTP."""

import pytest

from router.adapters.memory_board import MemoryBoard
from router.adapters.memory_pins import MemoryPins
from router.domain.board import Board, RouterId
from router.domain.fleet import AffinityKey, ReplicaId, ReplicaSpec
from router.domain.pin import Demand
from router.fleet_state import FleetState
from router.http.access import Access
from router.http.app import RouterApp
from router.http.generating import Generating
from router.http.replica_routes import ReplicaRoutes
from router.orders import FleetOrders, FleetSources
from router.settings import RouterSettings
from tests.unit.router.http.caller import Caller, FakeCarrier, Heard

A = ReplicaId("a")


class Desk:
    """One router's fleet of one replica, with a board of its own."""

    def __init__(self) -> None:
        self.board = MemoryBoard(clock=lambda: 100.0)
        self.pins = MemoryPins(ttl_s=60)
        self.fleet = FleetState()
        self.fleet.set_replicas([ReplicaSpec(A, "http://a:1", frozenset({"small"}))])
        sources = FleetSources(self.board, self.fleet, self.pins, lambda: {A: 2})
        self._orders = FleetOrders(sources, RouterSettings())

    async def call(self, method: str, path: str, body: object = None, *, operators: tuple[str, ...] = ()) -> Heard:
        app = RouterApp(
            generating=Generating(router=FakeCarrier(), body_limit=1000),
            routes=ReplicaRoutes(self._orders).routes(),
            access=Access.of(clients=(), operators=operators),
            body_limit=1000,
        )
        return await (Caller(app).post(path, body) if method == "POST" else Caller(app).call(method, path))

    async def obey(self) -> Board:
        board = await self.board.read()
        self.fleet.apply(board)
        return board


@pytest.fixture
def desk() -> Desk:
    return Desk()


async def test_a_replica_is_shown_with_all_that_is_known(desk: Desk) -> None:
    await desk.pins.claim(AffinityKey("small\ns-1"), [A], replacing=None, demand=Demand(kv_tokens=50))
    listed = (await desk.call("GET", "/replicas")).json()["replicas"]
    assert listed == [(await desk.call("GET", "/replicas/a")).json()]
    assert listed[0] == {
        "id": "a",
        "url": "http://a:1",
        "models": ["small"],
        "health": "unknown",
        "reason": "",
        "warnings": [],
        "is_draining": False,
        "sessions": 1,
        "kv_tokens": 50,
        "kv_capacity_tokens": None,
        "in_flight": 2,
        "drain": None,
    }


async def test_an_unknown_replica_is_not_found(desk: Desk) -> None:
    for method, path in (("GET", "/replicas/b"), ("DELETE", "/replicas/b"), ("DELETE", "/replicas/b/drain")):
        assert (await desk.call(method, path)).code == "replica_not_found"


async def test_a_replica_is_added_for_every_router(desk: Desk) -> None:
    heard = await desk.call("POST", "/replicas", {"id": "b", "url": "http://b:1", "models": ["large"]})
    assert (heard.status, heard.json()["id"]) == (201, "b")
    assert [spec.id for spec in (await desk.board.read()).added] == ["b"]
    for wrong in ({"id": "b"}, {"id": "b", "url": 7}, {"id": "b", "url": "http://b", "weight": 2}):
        assert (await desk.call("POST", "/replicas", wrong)).code == "invalid_request"
    assert (await desk.call("POST", "/replicas", {"id": "b\n", "url": "ftp://b"})).code == "replica_invalid"


async def test_a_drain_is_ordered_shown_and_undone(desk: Desk) -> None:
    heard = await desk.call("POST", "/replicas/a/drain", {"within_s": 30})
    assert (heard.status, heard.json()["seconds_left"], heard.json()["sessions_left"]) == (202, 30.0, 0)
    await desk.obey()
    shown = (await desk.call("GET", "/replicas/a")).json()
    assert shown["is_draining"] is True
    assert shown["drain"]["seconds_left"] == 30.0
    assert (await desk.call("DELETE", "/replicas/a/drain")).status == 204
    assert (await desk.obey()).drains == {}
    assert (await desk.call("POST", "/replicas/a/drain", {"within_s": -1})).code == "invalid_request"


async def test_a_replica_is_taken_out_once_it_may_stop_or_by_force(desk: Desk) -> None:
    assert (await desk.call("DELETE", "/replicas/a")).code == "replica_in_use"
    await desk.call("POST", "/replicas/a/drain", {})
    await desk.board.report(RouterId("one"), {})  # it lives, and has not seen the order
    shown = (await desk.call("GET", "/replicas/a")).json()["drain"]
    assert (shown["missing"], shown["missing_routers"], shown["may_stop"]) == (1, ["one"], False)
    assert (await desk.call("DELETE", "/replicas/a?force=perhaps")).code == "invalid_request"
    assert (await desk.call("DELETE", "/replicas/a?force=true")).status == 204
    assert (await desk.obey()).removed == {A}


async def test_orders_need_an_operators_key(desk: Desk) -> None:
    assert (await desk.call("GET", "/replicas", operators=("o",))).code == "unauthenticated"
