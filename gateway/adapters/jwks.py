"""Public keys as issuers publish them (RFC 7517), and signatures by them; the one place that knows joserfc."""

import hashlib
import json
from collections.abc import Iterator, Mapping

from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry
from joserfc.util import base64_to_int
from typing_extensions import override

from gateway.access_ports import PublishedKeys
from gateway.domain.token_text import LONGEST_KEY_ID, SIGNING, WrittenToken
from gateway.errors import KeySetUnavailable

MOST_KEYS = 64

# An exponent or a modulus without bounds would let a key set decide how long a signature takes.
_RSA_BITS = range(2048, 8193)
_LARGEST_EXPONENT = 1 << 32

_Key = RSAKey | ECKey | OKPKey
_KINDS: Mapping[str, tuple[type[_Key], tuple[str, ...]]] = {
    "RSA": (RSAKey, ("kty", "n", "e")),
    "EC": (ECKey, ("kty", "crv", "x", "y")),
    "OKP": (OKPKey, ("kty", "crv", "x")),
}


class JwksKeys(PublishedKeys):
    def __init__(self, document: object) -> None:
        """Raises `KeySetUnavailable` when it is no key set; a key that cannot be used is passed over."""
        listed = document.get("keys") if isinstance(document, dict) else None
        if not isinstance(listed, list) or len(listed) > MOST_KEYS:
            raise KeySetUnavailable("it is no set of keys")
        self._keys = tuple(_SigningKey(key, entry) for entry in listed for key in _keys_in(entry))
        public = sorted(json.dumps([key.id, key.algorithm, key.thumbprint]) for key in self._keys)
        self._fingerprint = hashlib.sha256("\n".join(public).encode()).digest()

    @property
    @override
    def fingerprint(self) -> bytes:
        return self._fingerprint

    @override
    def knows(self, token: WrittenToken) -> bool:
        return bool(self._candidates(token))

    @override
    def signed(self, token: WrittenToken) -> bool:
        return any(key.signed(token) for key in self._candidates(token))

    def _candidates(self, token: WrittenToken) -> list["_SigningKey"]:
        """The keys of the token's key id; one that names none may have any, as long as only one fits."""
        fitting = [key for key in self._keys if key.fits(token.algorithm)]
        if token.key_id is None:
            return fitting if len(fitting) == 1 else []
        return [key for key in fitting if key.id == token.key_id]


class _SigningKey:
    def __init__(self, key: _Key, entry: Mapping[str, object]) -> None:
        self.id = entry.get("kid")
        self.algorithm = entry.get("alg")
        self.thumbprint = key.thumbprint()
        self._key = key

    def fits(self, algorithm: str) -> bool:
        if algorithm not in SIGNING or self.algorithm not in (None, algorithm):
            return False
        if isinstance(self._key, OKPKey) and self._key.curve_name != "Ed25519":
            return False
        try:
            JWSRegistry.algorithms[algorithm].check_key(self._key)
        except JoseError:
            return False
        return True

    def signed(self, token: WrittenToken) -> bool:
        try:
            return JWSRegistry.algorithms[token.algorithm].verify(token.signed, token.signature, self._key)
        except (JoseError, ValueError):
            return False


def _keys_in(entry: object) -> Iterator[_Key]:
    """The key of this entry, if there is one that may verify."""
    if not isinstance(entry, dict) or not _is_for_signatures(entry):
        return
    kind, members = _KINDS.get(str(entry.get("kty")), (None, ()))
    try:
        if kind is not None and (kind is not RSAKey or _is_fair(entry["n"], entry["e"])):
            # The public half alone: should an issuer publish a private key, we do not keep it.
            key = kind.import_key({name: entry[name] for name in members})
            key.get_op_key("verify")
            yield key
    except (JoseError, ValueError, TypeError, KeyError):
        return


def _is_for_signatures(entry: Mapping[str, object]) -> bool:
    operations = entry.get("key_ops", ["verify"])
    names_itself = all(
        value is None or (isinstance(value, str) and len(value) <= LONGEST_KEY_ID)
        for value in (entry.get("kid"), entry.get("alg"))
    )
    return entry.get("use", "sig") == "sig" and isinstance(operations, list) and "verify" in operations and names_itself


def _is_fair(modulus: str, exponent: str) -> bool:
    """Neither too weak nor such that one signature takes long."""
    return base64_to_int(modulus).bit_length() in _RSA_BITS and base64_to_int(exponent) < _LARGEST_EXPONENT
