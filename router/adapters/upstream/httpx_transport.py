"""The client in the form `httpx` takes; for control calls to many servers, which its own pool makes costly.

`read` bounds the wait for the head and, beside it, the whole answer; `write` and `pool` have nothing to bound here.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager

import httpx
from typing_extensions import override

from router.adapters.upstream.client import UpstreamClient
from router.adapters.upstream.errors import ConnectFailed, HeaderInvalid, OutOfPatience, TargetInvalid, UpstreamError
from router.adapters.upstream.reply import Reply
from router.adapters.upstream.request import FRAMING, header_lines, request_bytes
from router.domain.patience import Limits, Patience

# Not infinite: a timer of that length is more than some loops can count.
_NO_LIMIT_S = 86_400.0


class UpstreamTransport(httpx.AsyncBaseTransport):
    """Whoever made the client closes it."""

    def __init__(self, client: UpstreamClient) -> None:
        self._client = client

    @override
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method in ("HEAD", "CONNECT"):
            raise httpx.UnsupportedProtocol(f"{request.method} is not spoken here", request=request)
        body = await request.aread()
        headers = ((name, value) for name, value in request.headers.multi_items() if name not in FRAMING)
        with _in_httpx_words(request):
            target = self._client.target(str(request.url.copy_with(raw_path=b"/")))
            path = request.url.raw_path.decode("ascii")
            wire = request_bytes(target, path, header_lines(headers), body, method=request.method)
            reply = await self._client.open(target, wire, patience=_patience(request))
        return httpx.Response(reply.status, headers=reply.headers, stream=_Body(reply, request), request=request)


class _Body(httpx.AsyncByteStream):
    def __init__(self, reply: Reply, request: httpx.Request) -> None:
        self._reply = reply
        self._request = request

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _in_httpx_words(self._request):
            while data := await self._reply.read():
                yield data

    @override
    async def aclose(self) -> None:
        self._reply.close()


def _patience(request: httpx.Request) -> Patience:
    told = request.extensions.get("timeout", {})
    connect_s, read_s = (_NO_LIMIT_S if told.get(name) is None else float(told[name]) for name in ("connect", "read"))
    limits = Limits(connect_s=connect_s, total_s=connect_s + read_s, answer_s=read_s)
    return Patience(limits, now=asyncio.get_running_loop().time())


@contextmanager
def _in_httpx_words(request: httpx.Request) -> Iterator[None]:
    try:
        yield
    except OutOfPatience as error:
        raise httpx.ReadTimeout(str(error), request=request) from error
    except (ConnectFailed, TargetInvalid) as error:
        raise httpx.ConnectError(str(error), request=request) from error
    except HeaderInvalid as error:
        raise httpx.LocalProtocolError(str(error), request=request) from error
    except UpstreamError as error:
        raise httpx.RemoteProtocolError(str(error), request=request) from error
