from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from gateway.api.app import build_app
from gateway.services import Services
from tests.integration.api.house import served


async def test_services_are_made_at_the_start_and_closed_at_the_end() -> None:
    happened: list[str] = []

    @asynccontextmanager
    async def services() -> AsyncIterator[object]:
        happened.append("opened")
        yield object()
        happened.append("closed")

    async with served(services):
        assert happened == ["opened"]
    assert happened == ["opened", "closed"]


def test_building_the_application_makes_nothing() -> None:
    def never() -> object:
        pytest.fail("nothing is made before the start")

    app = build_app(never)  # type: ignore[arg-type]  # never called
    assert "/v1/sessions" in app.openapi()["paths"]
    assert app.openapi() is app.openapi()


async def test_services_that_cannot_be_made_end_the_start() -> None:
    def services() -> AbstractAsyncContextManager[Services]:
        raise OSError("no database")

    app = build_app(services)
    with pytest.raises(OSError, match="no database"):
        async with app.router.lifespan_context(app):
            pytest.fail("it must not start")
