"""What the edge needs of whoever knows the issuers of tokens, and keeps stream tickets and the uses of keys."""

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from gateway.domain.access import KeyId, Principal
from gateway.domain.tickets import Grant
from gateway.domain.token_text import WrittenToken


class PublishedKeys(Protocol):
    """The keys of one issuer as it published them at one moment."""

    @property
    def fingerprint(self) -> bytes:
        """Alike for alike keys."""

    def knows(self, token: WrittenToken) -> bool:
        """Whether there is a key that may have signed it."""

    def signed(self, token: WrittenToken) -> bool:
        """Whether one of them has."""


class KeySource(Protocol):
    async def fetch(self) -> PublishedKeys:
        """Ask the issuer; raises `KeySetUnavailable`."""


class SignIn(Protocol):
    async def principal(self, token: str) -> Principal:
        """Who holds the token. Raises `TokenInvalid`, `NotEnrolled`, `SignInUnavailable` or `KeysUnavailable`."""


class Tickets(Protocol):
    """Tickets that open one stream once, soon. Each method raises `TicketsUnavailable` when nobody can tell."""

    async def give(self, grant: Grant, ticket: str, *, for_s: float) -> None: ...

    async def redeem(self, ticket: str) -> Grant | None:
        """What it grants; None the second time, and when it is too late or was never given."""


class KeyLedger(Protocol):
    async def used(self, keys: Collection[KeyId], *, at: datetime) -> None:
        """Write down that they were used; raises `KeysUnavailable`."""
