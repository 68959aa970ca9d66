"""Who may call what.

An API key reads `dy_<id>_<secret>`: the id finds the row, the secret (256 random bits) is compared by its SHA-256.
Such a secret cannot be guessed, so it needs no slow hash.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID

from gateway.errors import Forbidden, Unauthenticated

KeyId = NewType("KeyId", str)

PREFIX = "dy"


class Role(StrEnum):
    TRAINEE = "trainee"
    INSTRUCTOR = "instructor"
    OPERATOR = "operator"
    SERVICE = "service"


class Action(StrEnum):
    """Each reads as the end of "may not ..."."""

    START_SESSIONS = "start sessions"
    READ_SESSIONS = "read sessions"
    TAKE_TURNS = "take turns"
    CLOSE_SESSIONS = "close sessions"
    READ_CONTEXT = "read how prompts are built"
    WRITE_SCENARIOS = "write scenarios"
    READ_SCENARIOS = "read scenarios"


# The whole table; what is not in it is forbidden.
ALLOWED: Mapping[Role, frozenset[Action]] = {
    Role.TRAINEE: frozenset(
        {
            Action.START_SESSIONS,
            Action.READ_SESSIONS,
            Action.TAKE_TURNS,
            Action.CLOSE_SESSIONS,
            Action.READ_SCENARIOS,
        }
    ),
    Role.INSTRUCTOR: frozenset(
        {
            Action.READ_SESSIONS,
            Action.READ_CONTEXT,
            Action.WRITE_SCENARIOS,
            Action.READ_SCENARIOS,
        }
    ),
    Role.OPERATOR: frozenset({Action.READ_SESSIONS, Action.READ_CONTEXT, Action.READ_SCENARIOS}),
    Role.SERVICE: frozenset({Action.READ_SESSIONS, Action.READ_SCENARIOS}),
}


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: an account of one tenant in one role."""

    tenant: UUID
    account: UUID
    role: Role

    @property
    def sees_all(self) -> bool:
        """Whether it sees the sessions of others in its tenant."""
        return self.role is not Role.TRAINEE

    def must(self, action: Action) -> None:
        if action not in ALLOWED[self.role]:
            raise Forbidden(self.role, action)


@dataclass(frozen=True, slots=True)
class PresentedKey:
    id: KeyId
    secret_sha256: bytes


@dataclass(frozen=True, slots=True)
class StoredKey:
    """What is kept of a key; the secret itself is shown once and forgotten."""

    id: KeyId
    secret_sha256: bytes
    principal: Principal
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def written(key: KeyId, secret: str) -> str:
    """The key as its owner keeps it."""
    return f"{PREFIX}_{key}_{secret}"


def presented(authorization: str | None) -> PresentedKey:
    """The key of an `Authorization: Bearer` header; raises `Unauthenticated` when there is none that could be ours."""
    scheme, _, token = (authorization or "").partition(" ")
    prefix, _, rest = token.strip().partition("_")
    key, _, secret = rest.partition("_")
    if scheme.lower() != "bearer" or prefix != PREFIX or not (key and secret and token.isascii()):
        raise Unauthenticated("an API key is needed: Authorization: Bearer dy_...")
    return PresentedKey(KeyId(key), digest(secret))


def principal(shown: PresentedKey, stored: StoredKey | None, *, now: datetime) -> Principal:
    """Who stands behind the key; raises `Unauthenticated` alike for an unknown, wrong, expired or revoked one."""
    expected = stored.secret_sha256 if stored is not None else bytes(32)
    matches = hmac.compare_digest(shown.secret_sha256, expected)  # also for an unknown id, so that timing tells nothing
    if stored is None or not matches or not _is_live(stored, now):
        raise Unauthenticated("the API key is not valid")
    return stored.principal


def _is_live(stored: StoredKey, now: datetime) -> bool:
    expired = stored.expires_at is not None and stored.expires_at <= now
    return not expired and stored.revoked_at is None
