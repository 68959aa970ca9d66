"""What the edge refuses, and why; facts as attributes. `gateway/problems.py` gives each a status."""

from collections.abc import Sequence
from typing import Protocol


class GatewayError(Exception):
    """A request cannot be served as it stands."""


class Unauthenticated(GatewayError):
    """No key and no token: nobody says who asks."""


class CredentialInvalid(Unauthenticated):
    """A key or a ticket that is unknown, wrong, used up, expired or revoked; the answer never says which."""


class TokenInvalid(CredentialInvalid):
    """A token that does not count; `reason` is for the log alone, and holds nothing of the token."""

    def __init__(self, reason: str) -> None:
        super().__init__("the token is not valid")
        self.reason = reason


class NotEnrolled(GatewayError):
    """The token is good, but names no tenant or no role that is known here."""


class SignInUnavailable(GatewayError):
    """The keys of the token's issuer are not known, or are too old; `retry_after_s` says when to try again."""

    def __init__(self, *, retry_after_s: float) -> None:
        super().__init__("the keys of the issuer are not known now")
        self.retry_after_s = retry_after_s


class KeySetUnavailable(GatewayError):
    """An issuer has not published its keys as it should; the words say what was wrong."""


class TicketsUnavailable(GatewayError):
    """Stream tickets can neither be made nor redeemed now."""


class TooManyKeys(GatewayError):
    """An account has as many living keys as it may have."""

    def __init__(self, *, limit: int) -> None:
        super().__init__(f"the account has {limit} living keys already; revoke one of them first")
        self.limit = limit


class KeyNotFound(GatewayError):
    """The tenant has no living key of this id."""


class Forbidden(GatewayError):
    """The key's role may not do this."""

    def __init__(self, role: str, action: str) -> None:
        super().__init__(f"the role {role} may not {action}")
        self.role = role
        self.action = action


class ScopeMissing(GatewayError):
    """The key is not meant for this, though its role might do it."""

    def __init__(self, action: str) -> None:
        super().__init__(f"the scopes of this key do not let it {action}")
        self.action = action


class BodyTooLarge(GatewayError):
    def __init__(self, *, limit_bytes: int) -> None:
        super().__init__(f"the body has more than {limit_bytes} bytes")
        self.limit_bytes = limit_bytes


class BodyNotJson(GatewayError):
    """The body is not UTF-8 encoded JSON."""


class UnsupportedMediaType(GatewayError):
    """The body must be application/json."""


class FieldInvalid(GatewayError):
    """One field of a request cannot be taken."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field = field
        self.detail = detail


class AcceptMalformed(GatewayError):
    """The Accept header is no list of media ranges."""


class NotAcceptable(GatewayError):
    """Nothing that the caller accepts can be sent."""


class IdempotencyKeyInvalid(GatewayError):
    """The Idempotency-Key is empty, too long, or not printable ASCII."""


class TooManyUploads(GatewayError):
    """This process has as many uploads in memory as it may have; `retry_after_s` says when to send it again."""

    def __init__(self, *, limit: int) -> None:
        super().__init__(f"{limit} documents or phrase lists are being taken in; no more are at once")
        self.limit = limit
        self.retry_after_s = 5.0


class ServerStopping(GatewayError):
    """This process is shutting down and takes nothing new."""


class KeysUnavailable(GatewayError):
    """API keys cannot be looked up now."""


class AccountRefused(GatewayError):
    """An account or a key cannot be written as asked: what is stored contradicts it, or it cannot be stored."""


class AccountNotFound(GatewayError):
    """There is no such account in this tenant."""


class DecisionNotFound(GatewayError):
    """Nothing is kept of this turn's routing: there was no such turn, or it is too long ago."""


class PoolNotFound(GatewayError):
    """No pool is configured for the model."""

    def __init__(self, model: str, *, known: Sequence[str]) -> None:
        there = f"there are {', '.join(known)}" if known else "no pools are configured (DRILLYARD_FLEET__POOLS)"
        super().__init__(f"there is no pool {model[:100]!r}; {there}")


class RouterUnreachable(GatewayError):
    """The router that this gateway uses over HTTP cannot be asked now."""


class FleetUnfit(GatewayError):
    """Every replica that answers serves another model, window or tokenizer than the settings say."""


class QuotaLeft(Protocol):
    """One quota as it stands, `gateway.domain.limits.Standing` seen from here."""

    @property
    def name(self) -> str: ...
    @property
    def limit(self) -> int: ...
    @property
    def remaining(self) -> int: ...
    @property
    def reset_s(self) -> float: ...
    @property
    def window_s(self) -> float: ...


class AccountLimitReached(GatewayError):
    """A limit of this account alone; `limit` names which, `standing` tells what is left of each quota."""

    def __init__(self, limit: str, *, retry_after_s: float, standing: Sequence[QuotaLeft] = ()) -> None:
        super().__init__(f"the account has reached its limit of {limit.replace('_', ' ')}")
        self.limit = limit
        self.retry_after_s = retry_after_s
        self.standing = tuple(standing)


class DrillAtWatermark(GatewayError):
    """As many turns of the drill run as may at once; those of seated sessions are let in all the same."""

    def __init__(self, *, retry_after_s: float) -> None:
        super().__init__("as many turns of this drill run as may at once")
        self.retry_after_s = retry_after_s


class DrillFull(GatewayError):
    """Neither a seat nor a walk-in's place of the drill is free."""

    def __init__(self, *, retry_after_s: float) -> None:
        super().__init__("no seat of this drill is free")
        self.retry_after_s = retry_after_s


class TenantFull(GatewayError):
    """The tenant has as many open sessions as it may have."""

    def __init__(self, *, retry_after_s: float) -> None:
        super().__init__("the tenant has as many open sessions as it may have")
        self.retry_after_s = retry_after_s


class SeatsUnavailable(GatewayError):
    """Seats cannot be counted now, and have not been for longer than the grace."""

    def __init__(self, *, retry_after_s: float) -> None:
        super().__init__("seats cannot be counted now")
        self.retry_after_s = retry_after_s


class LimitsUnavailable(GatewayError):
    """The shared limits cannot be asked now; local ones stand in for them."""


class ParameterUnsupported(GatewayError):
    """A parameter of a chat completion that cannot be sent here, whether or not the engine knows it."""

    def __init__(self, param: str, *, is_known: bool = True) -> None:
        super().__init__(f"the parameter {param} is not {'supported' if is_known else 'known'} here")
        self.param = param


class ModelNotServed(GatewayError):
    """No model and no kind of work has the name that a chat completion asks for."""

    def __init__(self, model: str) -> None:
        super().__init__(f"there is no model {model[:100]!r}; see /v1/models")
        self.param = "model"


class ContextTooLong(GatewayError):
    """The messages of a chat completion leave no room for a reply in the model's window."""

    def __init__(self, *, tokens: int, limit: int) -> None:
        super().__init__(f"the messages have {tokens} tokens; messages and reply together may have {limit}")
        self.tokens = tokens
        self.limit = limit
        self.param = "messages"


class ChatRejected(GatewayError):
    """The engine found a chat completion wrong, in its own words."""

    def __init__(self, detail: str, *, param: str | None = None) -> None:
        super().__init__(detail)
        self.param = param


class ContentBlocked(GatewayError):
    """A chat completion has something in it that the tenant's rules of moderation stop."""

    def __init__(self, reason: str, *, param: str) -> None:
        super().__init__(f"{param} was stopped by the rules of moderation: {reason}")
        self.reason = reason
        self.param = param


class JournalUnavailable(GatewayError):
    """What other processes have released cannot be told now."""

    def __init__(self) -> None:
        super().__init__("the journals cannot be asked now")
        self.retry_after_s = 2.0


class ReviewDecided(GatewayError):
    """Somebody else has decided otherwise about the turn; nothing was written."""


class PhraseListNotFound(GatewayError):
    """There is no such phrase list in this tenant, or not in this version, or it takes no changes any more."""


class PhraseListExists(GatewayError):
    """The tenant has a phrase list of this name."""


class PhraseListInvalid(GatewayError):
    """A phrase list cannot be used; `faults` are all reasons, each with its place, and none repeats a phrase."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        super().__init__(f"the phrase list has {len(faults)} faults")
        self.faults = tuple(faults)
