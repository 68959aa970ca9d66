"""How the commands for the fleet call the API, as an operator."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.cli.api_client import Api, ApiClient
from gateway.cli.api_faults import ApiRefused
from gateway.cli.connection import StaffConnection
from gateway.cli.failure import CommandFailed

# The code of a 404 that does not say which of our errors it is.
_NOT_OURS = "http_404"


@asynccontextmanager
async def operator_client(told: StaffConnection) -> AsyncIterator[ApiClient]:
    async with Api(base_url=told.base_url) as api:
        try:
            yield api.as_holder_of(told.key)
        except ApiRefused as refused:
            if refused.code != _NOT_OURS:
                raise
            raise CommandFailed(
                f"{told.base_url} is not a `drillyard serve`",
                advice="a `drillyard router` takes these orders at /replicas and tells decisions at /decisions",
            ) from refused
