"""An identity provider on loopback that does exactly what a test says: rotates its keys, goes down, hangs, lies."""

import asyncio
import gzip
import json
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from functools import cache
from typing import Any

from joserfc.jwk import ECKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from tests.support.loopback_server import a_server_that
from tests.support.token_forge import b64, segment

DISCOVERY = "/realms/drill/.well-known/openid-configuration"
KEYS = "/realms/drill/keys"
AUDIENCE = "drillyard"

SigningKey = RSAKey | ECKey | OKPKey


@cache
def rsa_key(kid: str = "rsa") -> RSAKey:
    return RSAKey.generate_key(2048, parameters={"kid": kid})


@cache
def ec_key(kid: str = "ec") -> ECKey:
    return ECKey.generate_key("P-256", parameters={"kid": kid})


@cache
def ed_key(kid: str = "ed") -> OKPKey:
    return OKPKey.generate_key("Ed25519", parameters={"kid": kid})


class Mood(StrEnum):
    WELL = "well"
    DOWN = "down"
    HANGING = "hanging"
    REFUSING = "refusing"
    GARBAGE = "garbage"
    ENDLESS = "endless"
    REDIRECTING = "redirecting"
    SQUEEZED = "squeezed"


class IdentityProvider:
    """`keys` are those it publishes now; `asked` counts the requests for each of its documents."""

    def __init__(self) -> None:
        self.url = ""
        self.keys: list[SigningKey] = [ec_key()]
        self.mood = Mood.WELL
        self.goes_on = asyncio.Event()
        """Until then it hangs where it is to hang."""
        self.asked = dict.fromkeys((DISCOVERY, KEYS), 0)
        self.discovery_says: Mapping[str, object] = {}
        self.key_set: object = None
        """What it publishes in place of its keys."""

    @property
    def issuer(self) -> str:
        return f"{self.url}/realms/drill"

    def token(self, key: SigningKey | None = None, *, header: Mapping[str, object] | None = None, **claims: Any) -> str:
        """Signed by the first of its keys unless another one is given; a claim of None is left out."""
        signer = key or self.keys[0]
        now = time.time()
        usual = {
            "iss": self.issuer,
            "aud": AUDIENCE,
            "sub": "u-7",
            "iat": now,
            "exp": now + 300,
            "tenant": "acme",
            "roles": ["trainee"],
        }
        said = {name: value for name, value in {**usual, **claims}.items() if value is not None}
        return signed({"kid": signer.kid, **(header or {})}, said, signer)

    async def answer(self, reader: StreamReader, writer: StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ")[1].decode()
            self.asked[path] = self.asked.get(path, 0) + 1
            if self.mood is Mood.DOWN:
                return
            if self.mood is Mood.HANGING:
                await self.goes_on.wait()
            if self.mood is Mood.ENDLESS:
                await _endless(writer)
            writer.write(self._answer(path))
            await writer.drain()

    def _answer(self, path: str) -> bytes:
        match self.mood:
            case Mood.REFUSING:
                return _response(503, b"{}")
            case Mood.REDIRECTING:
                return _response(302, b"", f"Location: {self.url}/elsewhere\r\n")
            case Mood.SQUEEZED:
                return _response(200, gzip.compress(bytes(50_000_000)), "Content-Encoding: gzip\r\n")
            case Mood.GARBAGE:
                return _response(200, b'\xff{"keys": [')
            case _:
                return _response(200, json.dumps(self._document(path)).encode())

    def _document(self, path: str) -> object:
        if path == DISCOVERY:
            return {"issuer": self.issuer, "jwks_uri": f"{self.url}{KEYS}", **self.discovery_says}
        return self.key_set or {"keys": [key.as_dict(private=False) for key in self.keys]}


def signed(header: Mapping[str, object], claims: Mapping[str, object], key: SigningKey) -> str:
    kind = {RSAKey: "RS256", ECKey: "ES256", OKPKey: "EdDSA"}[type(key)]
    said = {"alg": kind, "typ": "JWT", **header}
    text = f"{segment(said)}.{segment(claims)}"
    return f"{text}.{b64(JWSRegistry.algorithms[kind].sign(text.encode(), key))}"


@asynccontextmanager
async def identity_provider() -> AsyncIterator[IdentityProvider]:
    provider = IdentityProvider()
    async with a_server_that(provider.answer) as server:
        provider.url = server.url
        yield provider


async def _endless(writer: StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n[")
    while True:
        writer.write(b"0," * 32_768)
        await writer.drain()


def _response(status: int, body: bytes, headers: str = "") -> bytes:
    head = f"HTTP/1.1 {status} X\r\n{headers}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body
