"""Who may call: clients with an API key, operators with a key of their own; whichever kind has no keys is open."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from router.http.asgi import Headers
from router.http.errors import Forbidden, Unauthenticated


@dataclass(frozen=True, slots=True)
class Access:
    """Keys are kept and compared as digests, whose comparison tells a guesser nothing about the key."""

    clients: frozenset[bytes] = frozenset()
    operators: frozenset[bytes] = frozenset()

    @classmethod
    def of(cls, *, clients: Iterable[str], operators: Iterable[str]) -> "Access":
        """An operator's key is good for everything."""
        operating = frozenset(map(_digest, operators))
        calling = frozenset(map(_digest, clients))
        return cls(clients=calling | operating if calling else calling, operators=operating)

    def check_client(self, headers: Headers) -> None:
        """Raises `Unauthenticated`."""
        if self.clients:
            _check(headers, self.clients, "a valid API key is needed")

    def check_operator(self, headers: Headers) -> None:
        """Raises `Unauthenticated`, or `Forbidden` for a web page, which might use a reader's place in the network."""
        if b"origin" in headers:
            raise Forbidden("operators' calls are not taken from web pages")
        if self.operators:
            _check(headers, self.operators, "an operator's key is needed")


def _check(headers: Headers, known: frozenset[bytes], otherwise: str) -> None:
    scheme, _, key = headers.get(b"authorization", b"").partition(b" ")
    if scheme.lower() != b"bearer" or hashlib.sha256(key.strip()).digest() not in known:
        raise Unauthenticated(otherwise)


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()
