"""A JSON Web Token as it is written, read strictly before anything of it is believed.

What is refused here could at best be an oversight of its issuer: an unusual encoding, a name twice, a key that the
token brings along itself.
"""

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from gateway.errors import TokenInvalid

LONGEST_TOKEN = 8192
LONGEST_KEY_ID = 256

SIGNING = frozenset(
    ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
)
"""The algorithms that may be trusted: by a private key alone, so that whoever checks a signature cannot make one."""

_SEGMENT = re.compile(r"[A-Za-z0-9_-]+", re.ASCII)
_TYPES = frozenset({"jwt", "at+jwt", "application/jwt", "application/at+jwt"})
# Keys and rules of its own; whoever obeys them lets the token say by what it is to be judged.
_OWN_RULES = frozenset({"crit", "jwk", "jku", "x5u", "x5c", "b64", "enc", "zip"})


@dataclass(frozen=True, slots=True)
class WrittenToken:
    """Nothing of it is known to be true."""

    algorithm: str
    key_id: str | None
    claims: Mapping[str, object] = field(repr=False)
    signed: bytes = field(repr=False)
    signature: bytes = field(repr=False)


def looks_like_a_token(text: str) -> bool:
    """Rather than like an API key, which has no dots."""
    return "." in text


def read_token(text: str) -> WrittenToken:
    """Raises `TokenInvalid`."""
    if len(text) > LONGEST_TOKEN:
        raise TokenInvalid("too long")
    segments = text.split(".")
    if len(segments) != 3:  # noqa: PLR2004 - five are an encrypted one
        raise TokenInvalid("not three segments")
    header, claims = _object(segments[0]), _object(segments[1])
    _check_header(header)
    return WrittenToken(
        algorithm=_text(header, "alg"),
        key_id=_text(header, "kid") if "kid" in header else None,
        claims=claims,
        signed=f"{segments[0]}.{segments[1]}".encode(),
        signature=_bytes(segments[2]),
    )


def _check_header(header: Mapping[str, object]) -> None:
    if not _OWN_RULES.isdisjoint(header):
        raise TokenInvalid("rules of its own")
    if "typ" in header and _text(header, "typ").lower() not in _TYPES:
        raise TokenInvalid("another kind of token")


def _text(header: Mapping[str, object], name: str) -> str:
    value = header.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_KEY_ID:
        raise TokenInvalid(f"no usable {name}")
    return value


def _object(segment: str) -> Mapping[str, object]:
    try:
        value = json.loads(_bytes(segment).decode(), object_pairs_hook=_named_once, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise TokenInvalid("no JSON") from None
    if not isinstance(value, dict):
        raise TokenInvalid("no JSON object")
    return value


def _named_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise TokenInvalid("a name twice")
    return found


def _refuse(_: str) -> NoReturn:
    raise TokenInvalid("a number that is none")


def _bytes(segment: str) -> bytes:
    """Only the one way in which these bytes are written, so that no token has two texts."""
    if not _SEGMENT.fullmatch(segment) or len(segment) % 4 == 1:
        raise TokenInvalid("no base64url")
    found = base64.urlsafe_b64decode(segment + "=" * (-len(segment) % 4))
    if base64.urlsafe_b64encode(found).decode().rstrip("=") != segment:
        raise TokenInvalid("no base64url")
    return found
