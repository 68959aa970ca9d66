"""Models on a real server, and a client that does not look at the environment."""

from collections.abc import AsyncIterator

import httpx
import pytest

from sessions.adapters.model_http.endpoint import ModelEndpoint
from tests.support.search_models import SearchModels, search_models
from tests.support.session_fakes import FakeClock


@pytest.fixture
async def models() -> AsyncIterator[SearchModels]:
    async with search_models() as running:
        yield running


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False) as made:
        yield made


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def endpoint(client: httpx.AsyncClient, url: str, clock: FakeClock, *, key: str = "") -> ModelEndpoint:
    return ModelEndpoint(client=client, name="a model", url=url, key=key, ticks=clock.ticks)
