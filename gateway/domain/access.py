"""Who may call what; docs/access.md says it route by route.

An API key reads `dy_<id>_<secret>`: the id finds the row, the secret (256 random bits) is compared by its SHA-256.
Such a secret cannot be guessed, so it needs no slow hash.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NewType
from uuid import UUID

from gateway.errors import CredentialInvalid, Forbidden, ScopeMissing, Unauthenticated

KeyId = NewType("KeyId", str)

PREFIX = "dy"

LIVE_KEYS = 2
"""How many an account may have: the one in use, and the one that takes its place."""

_ID_BYTES, _SECRET_BYTES = 6, 32


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
    CHANGE_SCENES = "change scenes"
    CLOSE_SESSIONS = "close sessions"
    READ_CONTEXT = "read how prompts are built"
    WRITE_SCENARIOS = "write scenarios"
    READ_SCENARIOS = "read scenarios"
    WRITE_KNOWLEDGE = "write knowledge"
    READ_KNOWLEDGE = "read knowledge"
    RUN_JOBS = "run jobs"
    READ_FLEET = "read the fleet"
    ORDER_FLEET = "give orders to the fleet"
    READ_MODEL_TIERS = "read which models serve"
    CHOOSE_MODELS = "choose which models serve"
    COMPLETE_CHATS = "ask models without a scenario"
    MANAGE_KEYS = "hand out keys"
    WRITE_DRILLS = "write drills"
    READ_DRILLS = "read drills"
    READ_LIMITS = "read limits"
    SET_LIMITS = "set limits"
    REVIEW_TURNS = "review turns"
    READ_MODERATION = "read moderation"
    WRITE_MODERATION = "write moderation"
    CHECK_TEXTS = "check texts"


# The whole table; what is not in it is forbidden.
ALLOWED: Mapping[Role, frozenset[Action]] = {
    Role.TRAINEE: frozenset(
        {
            Action.START_SESSIONS,
            Action.READ_SESSIONS,
            Action.TAKE_TURNS,
            Action.CHANGE_SCENES,
            Action.CLOSE_SESSIONS,
            Action.READ_SCENARIOS,
            Action.READ_DRILLS,
        }
    ),
    Role.INSTRUCTOR: frozenset(
        {
            Action.READ_SESSIONS,
            Action.READ_CONTEXT,
            Action.REVIEW_TURNS,
            Action.WRITE_SCENARIOS,
            Action.READ_SCENARIOS,
            Action.WRITE_KNOWLEDGE,
            Action.READ_KNOWLEDGE,
            Action.READ_MODEL_TIERS,
            Action.RUN_JOBS,
            Action.COMPLETE_CHATS,
            Action.WRITE_DRILLS,
            Action.READ_DRILLS,
            Action.READ_MODERATION,
            Action.WRITE_MODERATION,
            Action.CHECK_TEXTS,
        }
    ),
    Role.OPERATOR: frozenset(
        {
            Action.READ_SESSIONS,
            Action.READ_CONTEXT,
            Action.REVIEW_TURNS,
            Action.READ_SCENARIOS,
            Action.READ_KNOWLEDGE,
            Action.READ_FLEET,
            Action.ORDER_FLEET,
            Action.READ_MODEL_TIERS,
            Action.CHOOSE_MODELS,
            Action.MANAGE_KEYS,
            Action.WRITE_DRILLS,
            Action.READ_DRILLS,
            Action.READ_LIMITS,
            Action.SET_LIMITS,
            Action.READ_MODERATION,
            Action.WRITE_MODERATION,
            Action.CHECK_TEXTS,
        }
    ),
    Role.SERVICE: frozenset(
        {
            Action.READ_SESSIONS,
            Action.READ_SCENARIOS,
            Action.READ_KNOWLEDGE,
            Action.RUN_JOBS,
            Action.COMPLETE_CHATS,
            Action.READ_DRILLS,
            Action.CHECK_TEXTS,
        }
    ),
}


STRENGTH = (Role.OPERATOR, Role.INSTRUCTOR, Role.SERVICE, Role.TRAINEE)
"""The roles, the strongest first."""


def strongest(roles: Collection[Role]) -> Role:
    """Of at least one."""
    return next(role for role in STRENGTH if role in roles)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: an account of one tenant, in one role or, as people may be, in several."""

    tenant: UUID
    account: UUID
    role: Role
    """The strongest."""
    further: frozenset[Role] = frozenset()
    scopes: frozenset[Action] | None = None
    """All that this key may be used for; None: for whatever its role may do."""

    @property
    def roles(self) -> frozenset[Role]:
        return self.further | {self.role}

    def sees_all(self, action: Action) -> bool:
        """Whether it may do this to the sessions of others in its tenant, by a role that is no trainee's."""
        return any(action in ALLOWED[role] for role in self.roles - {Role.TRAINEE})

    def must(self, action: Action) -> None:
        """Raises `Forbidden` or `ScopeMissing`."""
        if not any(action in ALLOWED[role] for role in self.roles):
            raise Forbidden(self.role, action)
        if self.scopes is not None and action not in self.scopes:
            raise ScopeMissing(action)


@dataclass(frozen=True, slots=True)
class PresentedKey:
    id: KeyId
    secret_sha256: bytes


class KeyState(StrEnum):
    LIVE = "live"
    EXPIRED = "expired"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class StoredKey:
    """What is kept of a key; the secret itself is shown once and forgotten."""

    id: KeyId
    secret_sha256: bytes
    principal: Principal
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    label: str | None = None
    """What it is for, in its owner's words."""
    last_used_at: datetime | None = None
    """Written down now and then, so it may be a minute late."""

    def state(self, now: datetime) -> KeyState:
        if self.revoked_at is not None:
            return KeyState.REVOKED
        if self.expires_at is not None and self.expires_at <= now:
            return KeyState.EXPIRED
        return KeyState.LIVE


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key just made: what is kept of it, and `written`, which its owner sees once."""

    stored: StoredKey
    written: str = field(repr=False)


def new_key(
    owner: Principal, *, dice: Callable[[int], bytes], expires_at: datetime | None = None, label: str | None = None
) -> NewKey:
    """`dice` gives so many bytes that nobody can guess."""
    key = KeyId(dice(_ID_BYTES).hex())
    secret = base64.urlsafe_b64encode(dice(_SECRET_BYTES)).decode().rstrip("=")
    return NewKey(StoredKey(key, digest(secret), owner, expires_at, label=label), written(key, secret))


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def written(key: KeyId, secret: str) -> str:
    """The key as its owner keeps it."""
    return f"{PREFIX}_{key}_{secret}"


def bearer(authorization: str | None) -> str:
    """What an `Authorization: Bearer` header shows; empty when there is none."""
    scheme, _, shown = (authorization or "").partition(" ")
    return shown.strip() if scheme.lower() == "bearer" and shown.isascii() else ""


def presented(authorization: str | None) -> PresentedKey:
    """The key of an `Authorization: Bearer` header; raises `Unauthenticated` when there is none that could be ours."""
    prefix, _, rest = bearer(authorization).partition("_")
    key, _, secret = rest.partition("_")
    if prefix != PREFIX or not (key and secret):
        raise Unauthenticated("a key or a token is needed: Authorization: Bearer dy_...")
    return PresentedKey(KeyId(key), digest(secret))


def principal(shown: PresentedKey, stored: StoredKey | None, *, now: datetime) -> Principal:
    """Who stands behind the key; raises `CredentialInvalid` alike for an unknown, wrong, expired or revoked one."""
    expected = stored.secret_sha256 if stored is not None else bytes(32)
    matches = hmac.compare_digest(shown.secret_sha256, expected)  # also for an unknown id, so that timing tells nothing
    if stored is None or not matches or stored.state(now) is not KeyState.LIVE:
        raise CredentialInvalid("the API key is not valid")
    return stored.principal
