"""What it costs a process to let others read its turns: `python -m tests.support.journal_cost [STREAMS] [SECONDS]`.

So many turns release a piece twenty times a second, each to one reader here. Measured is the CPU time of the process:
on memory alone, with the journal in Redis behind it, and with every turn read in another process too; there, how late
each piece comes. Prints one JSON object a line.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, cast
from uuid import UUID

import uvloop

from gateway.adapters.redis_journals import RedisJournals
from gateway.adapters.redis_mail import RedisMail
from gateway.domain.journal import Head, Watch
from gateway.followed_turns import FollowedTurns
from gateway.journal_writer import JournalWriter
from gateway.local.redis_server import redis_server
from gateway.shared_turns import SharedTurns
from gateway.turn_journal import TurnJournal
from gateway.wiring.redis import shared_redis
from sessions.domain.events import Accepted, Cancelled, Delta
from sessions.domain.session import SessionId
from sessions.domain.viewer import AccountId, TenantId, Viewer
from sessions.use_cases.read_turn import ReadTurn

_PIECES_S = 20
_VIEWER = Viewer(TenantId(UUID(int=1)), AccountId(UUID(int=2)), sees_all=True)


@asynccontextmanager
async def _shared(url: str, name: str) -> AsyncIterator[tuple[SharedTurns, JournalWriter, RedisJournals]]:
    async with shared_redis(url) as redis:
        client = redis.client
        journals = RedisJournals(client=client, keep_s=60, lease_key=str)
        mail = RedisMail(client=client, name=name)
        writer = JournalWriter(journals=journals, mail=mail, write_every_s=0.2)
        # Nobody asks the record here.
        followed = FollowedTurns(name=name, journals=journals, mail=mail, read_turn=cast(ReadTurn, None))
        shared = SharedTurns(name=name, journals=journals, mail=mail, writer=writer, followed=followed)
        async with shared.running():
            while not await mail.send(name, Watch(name, ())):  # noqa: ASYNC110  it answers when it is subscribed
                await asyncio.sleep(0.01)
            yield shared, writer, journals


async def _release(turns: list[TurnJournal], seconds: float) -> float:
    """The CPU seconds that it took, apart from the releasing itself, which the first measure has too."""
    started, cpu, released = time.monotonic(), time.process_time(), 0
    while (passed := time.monotonic() - started) < seconds:
        due = int(passed * _PIECES_S * len(turns))
        for number in range(released, due):
            turns[number % len(turns)].add(f"{time.monotonic():.4f} ")
        released = due
        await asyncio.sleep(0.005)
    cpu = time.process_time() - cpu
    for turn in turns:
        turn.end(Cancelled())
    return cpu / released * 1e6


async def _read(turn: TurnJournal) -> None:
    async with aclosing(turn.follow()) as events:
        async for _ in events:
            pass


async def _measure(url: str, how: str, streams: int, seconds: float) -> dict[str, Any]:
    heads = [Head(SessionId(UUID(int=number)), 1, f"{how}-{number}", "owner", "r", "kept") for number in range(streams)]
    turns = [TurnJournal(Accepted(head.session, 1, "r")) for head in heads]
    async with _shared(url, "owner") as (_, writer, journals), asyncio.TaskGroup() as group:
        for turn in turns:
            group.create_task(_read(turn))
        if how == "memory":
            return {"how": how, "cpu_us_per_piece": round(await _release(turns, seconds), 2)}
        for head, turn in zip(heads, turns, strict=True):
            writer.open(head, turn, stop=lambda: None)
        while await journals.read(heads[-1].session, 1) is None:  # noqa: ASYNC110  until the first page is written
            await asyncio.sleep(0.01)
        if how == "redis":
            return {"how": how, "cpu_us_per_piece": round(await _release(turns, seconds), 2)}
        child = await asyncio.create_subprocess_exec(
            sys.executable, "-m", __spec__.name, "follow", url, str(streams), stdout=subprocess.PIPE
        )
        while not all(writer.is_watched(head.attempt) for head in heads):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        cpu = await _release(turns, seconds)
        said, _ = await child.communicate()
        return {"how": how, "cpu_us_per_piece": round(cpu, 2), **json.loads(said)}


async def _follow(url: str, streams: int) -> None:
    late: list[float] = []

    async def read(shared: SharedTurns, number: int) -> None:
        reader = await shared.find(_VIEWER, SessionId(UUID(int=number)), 1)
        assert reader is not None
        async with aclosing(reader.events()) as events:
            async for _, event in events:
                if isinstance(event, Delta):
                    now = time.monotonic()
                    late.extend(now - float(piece) for piece in event.text.split())

    async with _shared(url, "follower") as (shared, _, _), asyncio.TaskGroup() as group:
        for number in range(streams):
            group.create_task(read(shared, number))
    late.sort()
    figures = {f"late_ms_p{share}": round(late[int(len(late) * share / 100)] * 1000, 1) for share in (50, 99)}
    cpu = round(time.process_time() / len(late) * 1e6, 2)
    print(json.dumps({"pieces": len(late), **figures, "follower_cpu_us_per_piece": cpu}))  # noqa: T201


async def _main(streams: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder)) as redis:
        for how in ("memory", "redis", "watched"):
            print(json.dumps(await _measure(redis.url, how, streams, seconds)), flush=True)  # noqa: T201


if __name__ == "__main__":
    if sys.argv[1:2] == ["follow"]:
        uvloop.run(_follow(sys.argv[2], int(sys.argv[3])))
    else:
        uvloop.run(_main(int([*sys.argv[1:], "500"][0]), float([*sys.argv[2:], "10"][0])))
