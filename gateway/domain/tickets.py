"""A ticket that opens one turn's stream once, for a page whose EventSource can send no header."""

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

_BYTES = 32
_PARTS = 4


@dataclass(frozen=True, slots=True)
class Grant:
    """What a ticket lets its holder do: read this turn's events as this account."""

    tenant: UUID
    account: UUID
    session: UUID
    turn: int

    def written(self) -> str:
        return f"{self.tenant} {self.account} {self.session} {self.turn}"


def read_grant(text: str) -> Grant | None:
    """None when it is none that we have written."""
    parts = text.split(" ")
    try:
        tenant, account, session = (UUID(part) for part in parts[: _PARTS - 1])
        (turn,) = parts[_PARTS - 1 :]
        return Grant(tenant, account, session, int(turn))
    except ValueError:
        return None


def new_ticket(dice: Callable[[int], bytes]) -> str:
    """`dice` gives so many bytes that nobody can guess."""
    return base64.urlsafe_b64encode(dice(_BYTES)).decode().rstrip("=")


def kept_as(ticket: str) -> str:
    """By this it is found again; whoever reads the store learns no ticket."""
    return hashlib.sha256(ticket.encode()).hexdigest()
