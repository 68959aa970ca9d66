"""Everything a router needs, in a gateway and alone alike; with Redis shared by all processes, without it for one."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from http.cookiejar import CookieJar, DefaultCookiePolicy

import httpx

from gateway.errors import FleetUnfit
from gateway.wiring.background import Work, background
from gateway.wiring.redis import SharedRedis
from router.adapters.memory_board import MemoryBoard
from router.adapters.memory_decisions import MemoryDecisions
from router.adapters.memory_pins import MemoryPins
from router.adapters.pin_cache import CachedPins
from router.adapters.redis_board import RedisBoard
from router.adapters.redis_decisions import RedisDecisions
from router.adapters.redis_moves import RedisMoves
from router.adapters.redis_pins import RedisPins
from router.adapters.replica_transport import ReplicaTransport
from router.adapters.upstream.client import UpstreamClient
from router.adapters.vllm_http import VllmEngine
from router.adapters.vllm_probe import VllmProbe
from router.attempt import COMPLETED
from router.domain.board import RouterId
from router.domain.fitness import Expectation
from router.fleet_state import FleetState
from router.fleet_upkeep import FleetUpkeep
from router.inflight import InFlight
from router.load_book import LoadBook
from router.lost_answers import LostAnswers
from router.mover import Moved, Mover, MoverParts
from router.orders import FleetOrders, FleetSources, Orders
from router.ports import DecisionLog, FleetBoard, FleetSource, PinStore, Tracing
from router.prewarming import Prewarming
from router.recent_prompts import RecentPrompts
from router.replica_watch import Ties
from router.service import Router, RouterParts
from router.settings import RouterSettings
from router.tally import Tally
from router.waiting_room import WaitingRoom


@dataclass(frozen=True, slots=True)
class Plan:
    """What kind of router is wanted. Without expectations replicas may serve any model."""

    settings: RouterSettings
    source: FleetSource
    name: RouterId
    redis: SharedRedis | None = None
    expectations: tuple[Expectation, ...] = ()
    engine_key: str = ""
    has_pin_cache: bool = True
    tracing: Tracing | None = None


@dataclass(frozen=True, slots=True)
class Routing:
    """A router that runs, and what looks after it."""

    router: Router
    orders: FleetOrders
    board: Orders
    upkeep: FleetUpkeep
    mover: Mover
    decisions_lost: Callable[[], int]

    def gauges(self) -> Mapping[str, float]:
        """How old that is by which the process goes on while it cannot be read anew."""
        return {
            "router_orders_age_seconds": self.board.age_s,
            "router_fleet_source_age_seconds": self.upkeep.source_numbers.age_s,
        }

    def counters(self) -> Mapping[str, float]:
        """What only grows, beside the router's own numbers."""
        return {
            "router_orders_failures": self.board.failures,
            "router_fleet_source_failures": self.upkeep.source_numbers.failures,
            "router_decisions_lost": self.decisions_lost(),
            **{f"router_drained_{how}": self.mover.moved.get(how, 0) for how in Moved},
        }

    def stop(self) -> None:
        """The process is about to end: replicas are no longer tried out."""
        self.upkeep.rest()


@dataclass(frozen=True, slots=True)
class _Stores:
    """`work` is what each of them does in the background."""

    pins: PinStore
    board: FleetBoard
    decisions: DecisionLog
    decisions_lost: Callable[[], int] = lambda: 0
    work: tuple[Callable[[], Work], ...] = ()


@asynccontextmanager
async def routing(plan: Plan) -> AsyncIterator[Routing]:
    """Entered once every replica has been looked at, or the time for it is over.

    Raises `FleetUnfit` when each of them is another than is expected.
    """
    stores = _stores(plan)
    async with AsyncExitStack() as stack:
        parts, state = await stack.enter_async_context(_parts(plan, stores))
        probing = await stack.enter_async_context(probing_client())
        upkeep = _upkeep(plan, parts, state, probing)
        mover = Mover(
            MoverParts(parts.pins, state, parts.prewarming, parts.recent_prompts, parts.in_flight), router=plan.name
        )
        board = Orders(
            board=stores.board,
            router=plan.name,
            # Whoever waits for room tries again too: a replica may have joined.
            obey=(state.apply, mover.saw, lambda _: parts.waiting_room.freed()),
            in_flight=parts.book.own,
            settings=plan.settings,
        )
        await board.take_round()
        await upkeep.first_round()
        if (seen := state.current()).is_unfit and plan.expectations:
            raise FleetUnfit("; ".join(f"{replica.id} {replica.reason}" for replica in seen.replicas))
        stack.push_async_callback(board.leave)
        lost = LostAnswers(fleet=state, engine=parts.engine, settings=plan.settings)
        router = Router(parts, plan.settings)
        work = [upkeep.run, board.run, mover.run, lost.run, parts.prewarming.run, router.watch_loads, *stores.work]
        await stack.enter_async_context(background(*(begin() for begin in work)))
        sources = FleetSources(stores.board, state, parts.pins, parts.in_flight.counts)
        yield Routing(
            router=router,
            orders=FleetOrders(sources, plan.settings),
            board=board,
            upkeep=upkeep,
            mover=mover,
            decisions_lost=stores.decisions_lost,
        )


def probing_client() -> httpx.AsyncClient:
    """It keeps no cookies, since it would show those of one replica to the others on the same host."""
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
    return httpx.AsyncClient(transport=ReplicaTransport(), trust_env=False, cookies=no_cookies)


@asynccontextmanager
async def _parts(plan: Plan, stores: _Stores) -> AsyncIterator[tuple[RouterParts, FleetState]]:
    settings, state, tally = plan.settings, FleetState(), Tally()
    waiting_room = WaitingRoom(settings)
    book = LoadBook(max_in_flight=settings.max_in_flight, kv_share=settings.kv_share, freed=waiting_room.freed)
    async with UpstreamClient() as client:
        engine = VllmEngine(client=client, settings=settings, api_key=plan.engine_key)
        parts = RouterParts(
            pins=stores.pins,
            fleet=state,
            engine=engine,
            decisions=stores.decisions,
            book=book,
            waiting_room=waiting_room,
            prewarming=Prewarming(engine=engine, load=book, settings=settings, tally=tally),
            recent_prompts=RecentPrompts(limit_bytes=settings.prompt_memory_bytes),
            in_flight=InFlight(),
            tally=tally,
            tracing=plan.tracing,
        )
        yield parts, state


def _upkeep(plan: Plan, parts: RouterParts, state: FleetState, client: httpx.AsyncClient) -> FleetUpkeep:
    return FleetUpkeep(
        source=plan.source,
        state=state,
        probe=VllmProbe(client=client, expectations=plan.expectations, settings=plan.settings, api_key=plan.engine_key),
        settings=plan.settings,
        ties=Ties(
            saw_metrics=parts.book.saw_metrics,
            served=lambda replica: parts.tally.attempts[replica, COMPLETED],
            tried_out=parts.tally.canary,
        ),
    )


def _stores(plan: Plan) -> _Stores:
    settings, redis, own = plan.settings, plan.redis, MemoryDecisions()
    if redis is None:
        return _Stores(MemoryPins(ttl_s=settings.pin_ttl_s, cohort_bound=settings.cohort_bound), MemoryBoard(), own)
    board, decisions = RedisBoard(client=redis.client), RedisDecisions(client=redis.client, own=own)
    pins = RedisPins(client=redis.client, ttl_s=settings.pin_ttl_s, cohort_bound=settings.cohort_bound)
    if not plan.has_pin_cache:
        return _Stores(pins, board, decisions, lambda: decisions.lost, (decisions.run,))
    cached = CachedPins(store=pins, feed=RedisMoves(url=redis.url), ttl_s=settings.pin_ttl_s)
    return _Stores(cached, board, decisions, lambda: decisions.lost, (decisions.run, cached.run))
