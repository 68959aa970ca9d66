"""One running API per test."""

from collections.abc import AsyncIterator

import pytest

from tests.integration.api.house import House
from tests.integration.api.house import house as running


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with running() as opened:
        yield opened
