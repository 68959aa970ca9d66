"""Turns are traced where a collector is named, and only there."""

from pydantic import AnyHttpUrl

from gateway.wiring.tracing import tracing


async def test_nothing_is_traced_without_a_collector() -> None:
    async with tracing(None, "router", "one") as spans:
        assert spans is None


async def test_a_collector_that_is_away_is_no_fault() -> None:
    async with tracing(AnyHttpUrl("http://127.0.0.1:1"), "router", "one") as spans:
        assert spans is not None
        spans.start("router.carry").end()
