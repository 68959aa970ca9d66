"""What the edge refuses, and why; facts as attributes. `gateway/problems.py` gives each a status."""


class GatewayError(Exception):
    """A request cannot be served as it stands."""


class Unauthenticated(GatewayError):
    """No key, or one that is unknown, expired or revoked; the answer never says which."""


class Forbidden(GatewayError):
    """The key's role may not do this."""

    def __init__(self, role: str, action: str) -> None:
        super().__init__(f"the role {role} may not {action}")
        self.role = role
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
    """This process has as many documents in memory as it may have; `retry_after_s` says when to send it again."""

    def __init__(self, *, limit: int) -> None:
        super().__init__(f"{limit} documents are being taken in; no more are at once")
        self.limit = limit
        self.retry_after_s = 5.0


class ServerStopping(GatewayError):
    """This process is shutting down and takes nothing new."""


class KeysUnavailable(GatewayError):
    """API keys cannot be looked up now."""


class AccountRefused(GatewayError):
    """An account or a key cannot be written as asked: what is stored contradicts it, or it cannot be stored."""


class DecisionNotFound(GatewayError):
    """Nothing is kept of this turn's routing: there was no such turn, or it is too long ago."""


class RouterUnreachable(GatewayError):
    """The router that this gateway uses over HTTP cannot be asked now."""


class FleetUnfit(GatewayError):
    """Every replica that answers serves another model, window or tokenizer than the settings say."""
