"""Scripted engines for the tests that need real HTTP: started once, reset for each test."""

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from router.adapters.upstream.client import UpstreamClient
from tests.support.engine_process import EngineProcess, scripted_engine


@pytest.fixture(scope="session")
def lasting_engine() -> Iterator[EngineProcess]:
    with scripted_engine() as engine:
        yield engine


@pytest.fixture
def engine(lasting_engine: EngineProcess) -> EngineProcess:
    """A fresh script and no memory. A test that kills an engine starts one of its own."""
    lasting_engine.reset()
    return lasting_engine


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    """A client as the wiring makes it: no proxy from the environment, no limit on connections, used or kept."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=2.0)
    async with httpx.AsyncClient(limits=limits, trust_env=False) as client:
        yield client


@pytest.fixture
async def upstream() -> AsyncIterator[UpstreamClient]:
    """The client for streams; a test that leaves a connection in use has leaked it."""
    async with UpstreamClient() as client:
        yield client
        assert client.connections == client.idle
