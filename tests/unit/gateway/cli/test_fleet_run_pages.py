"""The two pages of the process that looks after the fleet."""

import json

import httpx
import pytest

from gateway.cli.fleet_run_pages import STUCK_AFTER_S, FleetPages
from router.fleet.domain.demand import PoolName
from router.fleet.keeping import PoolReport


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def get(pages: FleetPages, path: str) -> httpx.Response:
    transport = httpx.ASGITransport(pages)
    async with httpx.AsyncClient(transport=transport, base_url="http://fleet") as client:
        return await client.get(path)


async def test_it_lives_while_rounds_come_to_their_end() -> None:
    clock = Clock()
    pages = FleetPages(metrics=lambda: b"", instance="one", clock=clock)
    answer = await get(pages, "/livez")
    assert answer.json() == {"status": "alive", "instance": "one", "leads": None}
    clock.now = STUCK_AFTER_S + 1
    stuck = await get(pages, "/livez")
    assert (stuck.status_code, stuck.json()["status"]) == (503, "stuck")
    for leads in (False, True):
        pages.told(PoolReport(PoolName("m"), leads=leads))
        answer = await get(pages, "/livez")
        assert (answer.status_code, answer.json()["leads"]) == (200, leads)


async def test_metrics_are_told_as_they_are_now() -> None:
    answer = await get(FleetPages(metrics=lambda: b"a 1\n", instance="one"), "/metrics")
    assert (answer.status_code, answer.content) == (200, b"a 1\n")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")


@pytest.mark.parametrize("path", ["/", "/livez/x", "/replicas"])
async def test_there_is_nothing_else(path: str) -> None:
    answer = await get(FleetPages(metrics=lambda: b"", instance="one"), path)
    assert answer.status_code == 404
    assert "/livez" in json.loads(answer.content)["detail"]
