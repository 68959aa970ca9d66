"""Whether turns are traced."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from pydantic import AnyHttpUrl

if TYPE_CHECKING:
    from gateway.adapters.otel_tracing import OtelTracing


@asynccontextmanager
async def tracing(endpoint: AnyHttpUrl | None, service: str, instance: str) -> AsyncIterator["OtelTracing | None"]:
    """None where no collector is named: then tracing costs nothing."""
    if endpoint is None:
        yield None
        return
    from gateway.adapters.otel_tracing import otel_tracing  # noqa: PLC0415 - large, and most processes do not need it

    async with otel_tracing(endpoint=str(endpoint), service=f"drillyard-{service}", instance=instance) as spans:
        yield spans
