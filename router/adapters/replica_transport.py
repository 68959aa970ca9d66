"""How the HTTP client reaches replicas: unlimited connections, and one fault of its own kept inside."""

import httpx
from typing_extensions import override

# No limit on connections, kept ones included: over such a limit the pool may close one that a turn has just been given.
# Idle ones go sooner than vLLM's server closes them.
_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=2.0)


class ReplicaTransport(httpx.AsyncHTTPTransport):
    def __init__(self) -> None:
        super().__init__(limits=_LIMITS, trust_env=False)

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        try:
            return await super().handle_async_request(request)
        except AttributeError as error:
            # A peer that goes away right after the connection is made leaves a transport without a socket, and the
            # library below asks that for its address.
            raise httpx.ReadError("the connection was lost as it was made", request=request) from error
