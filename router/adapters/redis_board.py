"""The board in Redis, shared by all routers. The clock is the one of Redis; the layout stands in lua/board.lua."""

import json
from collections.abc import Mapping, Sequence

from redis.asyncio import Redis
from typing_extensions import override

from router.adapters.redis_script import RedisAway, RedisScript
from router.domain.board import Board, Drain, RouterId, RouterReport
from router.domain.board_limits import DEAD_AFTER_S, MOST_ENTRIES, check_in_flight, check_name, check_spec
from router.domain.fleet import ReplicaId, ReplicaSpec
from router.errors import BoardUnavailable
from router.ports import FleetBoard


class RedisBoard(FleetBoard):
    """Needs Redis 6.2 or newer."""

    def __init__(self, *, client: Redis, timeout_s: float = 1.0) -> None:
        self._script = RedisScript("board", client=client, timeout_s=timeout_s)

    @override
    async def read(self) -> Board:
        answer = await self._run("read")
        try:
            return _board(answer)
        except ValueError as error:
            raise BoardUnavailable("the board came back in an unknown shape") from error

    @override
    async def add(self, replica: ReplicaSpec) -> None:
        check_spec(replica)
        await self._change("add", replica.id, json.dumps({"url": replica.url, "models": sorted(replica.models)}))

    @override
    async def remove(self, replica: ReplicaId, *, keeps_out: bool = True) -> None:
        check_name(replica)
        await self._change("remove" if keeps_out else "forget", replica)

    @override
    async def drain(self, replica: ReplicaId, *, within_s: float | None) -> None:
        check_name(replica)
        if within_s is None:
            await self._change("undrain", replica)
        else:
            await self._change("drain", replica, str(within_s))

    @override
    async def report(self, router: RouterId, in_flight: Mapping[ReplicaId, int] | None) -> None:
        check_name(router)
        if in_flight is None:
            await self._change("leave", router)
        else:
            check_in_flight(in_flight)
            await self._change("report", router, json.dumps(dict(in_flight)))

    async def _change(self, step: str, name: str, more: str = "") -> None:
        if await self._run(step, name, more) != 1:
            raise BoardUnavailable("the board is full")

    async def _run(self, step: str, name: str = "", more: str = "") -> object:
        try:
            return await self._script.run([step, DEAD_AFTER_S, MOST_ENTRIES, name, more])
        except RedisAway as error:
            raise BoardUnavailable(str(error)) from error


def _board(answer: object) -> Board:
    match answer:
        case [bytes(now), list(added), list(removed), list(drains), list(routers)]:
            return Board(
                now=float(now),
                added=tuple(_spec(ReplicaId(name), text) for name, text in sorted(_pairs(added))),
                removed=frozenset(ReplicaId(name) for name in _texts(removed)),
                drains={ReplicaId(name): _drain(ReplicaId(name), text) for name, text in _pairs(drains)},
                routers={RouterId(name): _report(RouterId(name), text) for name, text in _pairs(routers)},
            )
        case _:
            raise ValueError("no board")


def _spec(replica: ReplicaId, text: str) -> ReplicaSpec:
    match json.loads(text):
        case {"url": str(url), "models": list(models)} if all(isinstance(model, str) for model in models):
            return ReplicaSpec(replica, url, frozenset(models))
        case _:
            raise ValueError("no replica")


def _drain(replica: ReplicaId, text: str) -> Drain:
    since, deadline = text.split(" ")
    return Drain(replica, since=float(since), deadline=float(deadline))


def _report(router: RouterId, text: str) -> RouterReport:
    at, said = text.split(" ", 1)
    counts = json.loads(said)
    if not isinstance(counts, dict) or not all(isinstance(count, int) for count in counts.values()):
        raise ValueError("no report")
    return RouterReport(router, float(at), {ReplicaId(replica): count for replica, count in counts.items()})


def _pairs(items: Sequence[object]) -> list[tuple[str, str]]:
    texts = _texts(items)
    return list(zip(texts[::2], texts[1::2], strict=True))


def _texts(items: Sequence[object]) -> list[str]:
    if not all(isinstance(item, bytes) for item in items):
        raise ValueError("no text")
    return [item.decode() for item in items if isinstance(item, bytes)]
