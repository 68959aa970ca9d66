"""What an issuer publishes by OpenID Connect Discovery, over HTTP: where its keys are, and the keys."""

import json
from collections.abc import Mapping

import httpx

from gateway.domain.issuer_url import may_be_asked
from gateway.errors import KeySetUnavailable

WELL_KNOWN = "/.well-known/openid-configuration"
_OK = 200
# What is unpacked has no bounds that we could hold it to, so whatever comes is read as it is.
_AS_IT_IS = {"Accept": "application/json", "Accept-Encoding": "identity"}


class OidcHttp:
    """Follows no redirect and reads no more than `limit_bytes`; how long it all may take is for the caller to say."""

    def __init__(
        self, *, client: httpx.AsyncClient, issuer: str, keys_url: str | None = None, limit_bytes: int = 262_144
    ) -> None:
        self._client = client
        self._issuer = issuer
        self._keys_url = keys_url
        self._limit_bytes = limit_bytes

    async def key_set(self) -> object:
        """As it was sent; raises `KeySetUnavailable`."""
        return await self._document(self._keys_url or await self._discovered())

    async def _discovered(self) -> str:
        found = await self._document(self._issuer.rstrip("/") + WELL_KNOWN)
        if not isinstance(found, Mapping) or found.get("issuer") != self._issuer:
            raise KeySetUnavailable("the discovery document is of another issuer")
        url = found.get("jwks_uri")
        if not isinstance(url, str) or not may_be_asked(url):
            raise KeySetUnavailable("the discovery document names no usable jwks_uri")
        return url

    async def _document(self, url: str) -> object:
        try:
            async with self._client.stream("GET", url, headers=_AS_IT_IS) as answer:
                if answer.status_code != _OK:
                    raise KeySetUnavailable(f"the answer has the status {answer.status_code}")
                return _parsed(await self._bounded(answer))
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise KeySetUnavailable(type(error).__name__) from error

    async def _bounded(self, answer: httpx.Response) -> bytes:
        body = bytearray()
        async for piece in answer.aiter_raw():
            body += piece
            if len(body) > self._limit_bytes:
                raise KeySetUnavailable(f"the answer has more than {self._limit_bytes} bytes")
        return bytes(body)


def _parsed(body: bytes) -> object:
    try:
        found: object = json.loads(body.decode())
    except (ValueError, RecursionError) as error:
        raise KeySetUnavailable("the answer is no JSON") from error
    return found
