import hmac
from typing import Any

import pytest
from joserfc.jwk import ECKey

from gateway.adapters.jwks import MOST_KEYS, JwksKeys
from gateway.domain.token_text import read_token
from gateway.errors import KeySetUnavailable
from tests.support.identity_provider import SigningKey, ec_key, ed_key, rsa_key, signed
from tests.support.token_forge import b64, token


def published(*keys: SigningKey, **also: object) -> JwksKeys:
    return JwksKeys({"keys": [{**key.as_dict(private=False), **also} for key in keys]})


@pytest.mark.parametrize("key", [rsa_key, ec_key, ed_key])
def test_a_signature_is_good_by_its_own_key_and_by_no_other(key: Any) -> None:
    ours, other = key(), type(key()).generate_key(key().as_dict().get("crv") or 2048, parameters={"kid": key().kid})
    keys = published(rsa_key(), ec_key(), ed_key())
    for signer, good in ((ours, True), (other, False)):
        shown = read_token(signed({"kid": ours.kid}, {"sub": "u"}, signer))
        assert keys.knows(shown)
        assert keys.signed(shown) is good


def test_a_signature_over_something_else_is_none() -> None:
    shown = signed({"kid": "ec"}, {"sub": "u"}, ec_key())
    head, _, signature = shown.split(".")
    other = f"{head}.{signed({}, {'sub': 'v'}, ec_key()).split('.')[1]}.{signature}"
    assert not published(ec_key()).signed(read_token(other))


def test_a_public_key_is_no_secret_to_sign_with() -> None:
    """The oldest trick: HS256, with the text of the RSA key as its secret; or no signature at all."""
    secret = rsa_key().as_pem(private=False)
    for algorithm in ("HS256", "none"):
        unsigned = token({"alg": algorithm, "kid": "rsa"}, {"sub": "admin"}).rpartition(".")[0]
        proof = hmac.digest(secret, unsigned.encode(), "sha256")
        forged = read_token(token({"alg": algorithm, "kid": "rsa"}, {"sub": "admin"}, proof))
        assert not published(rsa_key()).knows(forged)
        assert not published(rsa_key()).signed(forged)


def test_an_algorithm_needs_a_key_of_its_kind() -> None:
    for algorithm in ("ES256", "PS256", "EdDSA", "ES512"):
        forged = read_token(token({"alg": algorithm, "kid": "rsa"}, {}))
        assert published(rsa_key(), alg="RS256").knows(forged) is False
    assert published(rsa_key()).knows(read_token(token({"alg": "PS256", "kid": "rsa"}, {})))


def test_a_token_without_a_key_id_may_have_the_only_key_that_fits() -> None:
    unnamed = signed({"alg": "ES256"}, {"sub": "u"}, ec_key())
    assert read_token(unnamed).key_id is None
    assert published(ec_key(), rsa_key()).signed(read_token(unnamed))
    second = ECKey.generate_key("P-256", parameters={"kid": "2"})
    assert not published(ec_key(), second).knows(read_token(unnamed))


@pytest.mark.parametrize("document", [None, [], {}, {"keys": {}}, {"keys": [{}] * (MOST_KEYS + 1)}], ids=type)
def test_what_is_no_set_is_refused(document: object) -> None:
    with pytest.raises(KeySetUnavailable):
        JwksKeys(document)


@pytest.mark.parametrize(
    "entry",
    [
        None,
        "key",
        {},
        {"kty": ["EC"]},
        {"kty": "oct", "k": "c2VjcmV0", "kid": "ec"},
        {"kty": "EC", "crv": "P-256", "kid": "ec"},
        {"kty": "EC", "crv": "P-999", "x": "AA", "y": "AA", "kid": "ec"},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA", "kid": "ec"},
        {"kty": "RSA", "n": "!!", "e": 3, "kid": "ec"},
        {**ec_key().as_dict(private=False), "use": "enc"},
        {**ec_key().as_dict(private=False), "key_ops": ["sign"]},
        {**ec_key().as_dict(private=False), "key_ops": 7},
        {**ec_key().as_dict(private=False), "kid": 7},
        {**ec_key().as_dict(private=False), "alg": "ES384"},
    ],
)
def test_an_entry_that_cannot_be_used_is_passed_over(entry: object) -> None:
    keys = JwksKeys({"keys": [entry, rsa_key().as_dict(private=False)]})
    assert not keys.knows(read_token(signed({"kid": "ec"}, {}, ec_key())))
    assert keys.signed(read_token(signed({"kid": "rsa"}, {}, rsa_key())))


def test_a_key_that_is_too_weak_or_too_slow_is_passed_over() -> None:
    usual = rsa_key().as_dict(private=False)
    weak, slow = {**usual, "n": b64(bytes(range(1, 129)))}, {**usual, "e": usual["n"]}
    for entry in (weak, slow):
        assert not JwksKeys({"keys": [entry]}).knows(read_token(token({"alg": "RS256", "kid": "rsa"}, {})))


def test_a_set_has_another_fingerprint_when_its_keys_have_changed() -> None:
    one = published(ec_key(), rsa_key())
    assert one.fingerprint == published(rsa_key(), ec_key()).fingerprint
    assert one.fingerprint == published(ec_key(), rsa_key(), use="sig").fingerprint
    assert one.fingerprint != published(ec_key()).fingerprint
    assert one.fingerprint != published(ec_key(), rsa_key(), alg="RS256").fingerprint
    assert published().fingerprint == JwksKeys({"keys": []}).fingerprint
