"""The application that `drillyard router` serves."""

import asyncio

import httpx
from pydantic import AnyHttpUrl

from gateway.router_settings import RouterProcessSettings, load
from gateway.wiring.router_alone import router_alone
from tests.support.otlp_collector import collector


async def metrics(settings: RouterProcessSettings) -> str:
    async with router_alone(settings, stopping=asyncio.Event()) as app:
        transport = httpx.ASGITransport(app)  # type: ignore[arg-type]  # its scope is any mapping
        async with httpx.AsyncClient(transport=transport, base_url="http://router") as client:
            return (await client.get("/metrics")).raise_for_status().text


async def test_where_turns_are_traced_the_metrics_tell_what_became_of_spans() -> None:
    with collector() as taken:
        page = await metrics(load({}).model_copy(update={"otlp_endpoint": AnyHttpUrl(taken.url)}))
    for name in ("sent", "lost", "dropped"):
        assert f"drillyard_spans_{name}_total 0.0" in page


async def test_where_they_are_not_there_is_nothing_to_tell() -> None:
    assert "drillyard_spans" not in await metrics(load({}).model_copy(update={"otlp_endpoint": None}))
