"""A caller's own name for one request, and the digest that tells whether it asks for the same thing again."""

import hashlib
import json
from collections.abc import Mapping, Sequence

from gateway.errors import IdempotencyKeyInvalid
from sessions.domain.turn import IdempotencyKey

MAX_KEY_CHARS = 255

Asked = str | None | Mapping[str, str]


def idempotency_key(headers: Sequence[str], *asked: Asked) -> IdempotencyKey | None:
    """The request's key, from every Idempotency-Key header it has, with a digest of what it asks.

    Raises `IdempotencyKeyInvalid` for an empty, overlong, unprintable or doubled key.
    """
    if not headers:
        return None
    if len(headers) > 1:
        raise IdempotencyKeyInvalid("the Idempotency-Key stands there more than once")
    return IdempotencyKey(_checked(headers[0]), _digest(asked))


def _checked(key: str) -> str:
    if not key.strip():
        raise IdempotencyKeyInvalid("the Idempotency-Key is empty")
    if len(key) > MAX_KEY_CHARS:
        raise IdempotencyKeyInvalid(f"the Idempotency-Key has more than {MAX_KEY_CHARS} characters")
    if not (key.isascii() and key.isprintable()):
        raise IdempotencyKeyInvalid("the Idempotency-Key is not printable ASCII")
    return key


def _digest(asked: Sequence[Asked]) -> str:
    parts = [dict(part) if isinstance(part, Mapping) else part for part in asked]
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
