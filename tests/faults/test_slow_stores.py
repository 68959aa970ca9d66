"""Redis and Postgres behind slow lines: turns take longer, and none is refused, lost or doubled."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from sqlalchemy import make_url

from gateway.local.redis_server import redis_server
from tests.support.cut_line import CutLine, cut_line
from tests.support.gateway_process import World, world

TURNS = 3


@dataclass(frozen=True, slots=True)
class SlowHouse:
    world: World
    redis: CutLine
    postgres: CutLine


@pytest.fixture
async def house(tmp_path: Path, database_url: str) -> AsyncIterator[SlowHouse]:
    async with AsyncExitStack() as stack:
        redis = stack.enter_context(redis_server(tmp_path / "behind"))
        stored = make_url(database_url)
        to_redis = await stack.enter_async_context(cut_line(urlsplit(redis.url).port or 0))
        to_postgres = await stack.enter_async_context(cut_line(stored.port or 0))
        address = stored.set(host="127.0.0.1", port=urlsplit(to_postgres.url).port)
        made = world(
            tmp_path,
            address.render_as_string(hide_password=False),
            REDIS_URL=f"redis://127.0.0.1:{urlsplit(to_redis.url).port}",
        )
        # The lines are served by this loop, so whoever starts behind them must not hold it up.
        opened = await asyncio.to_thread(made.__enter__)
        stack.push_async_callback(asyncio.to_thread, made.__exit__, None, None, None)
        yield SlowHouse(opened, to_redis, to_postgres)


@pytest.mark.parametrize(
    ("redis_s", "postgres_s"),
    [(0.05, 0.05), (1.0, 0.0), (0.0, 0.1)],
    ids=["a far town", "redis crawls", "postgres crawls"],
)
async def test_turns_go_on_over_slow_lines(house: SlowHouse, redis_s: float, postgres_s: float) -> None:
    headers = {"Authorization": f"Bearer {house.world.seed.keys.trainees[0]}"}
    async with httpx.AsyncClient(
        base_url=house.world.gateway.url, headers=headers, trust_env=False, timeout=60
    ) as client:
        scenario = house.world.seed.scenarios[0].id
        session = (await client.post("/v1/sessions", json={"scenario_id": scenario})).json()["id"]
        house.redis.delay_s, house.postgres.delay_s = redis_s, postgres_s
        took = []
        for number in range(1, TURNS + 1):
            began = time.monotonic()
            answer = await client.post(f"/v1/sessions/{session}/turns", json={"text": f"message {number}"})
            took.append(time.monotonic() - began)
            assert answer.status_code == 200, answer.text
            assert answer.json()["turn"] == number
        house.redis.delay_s = house.postgres.delay_s = 0.0
        stored = (await client.get(f"/v1/sessions/{session}/turns")).json()["items"]
    assert [turn["turn"] for turn in stored] == list(range(1, TURNS + 1))
    print(f"turns took {[round(each, 2) for each in took]} s")  # noqa: T201  the figure of the case
