import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.token_text import LONGEST_TOKEN, looks_like_a_token, read_token
from gateway.errors import TokenInvalid
from tests.support.token_forge import b64, segment, token

HEADER = {"alg": "ES256", "kid": "k", "typ": "JWT"}
CLAIMS: dict[str, object] = {"iss": "https://id.example", "sub": "u"}

anything = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_a_token_is_read_as_it_was_written() -> None:
    read = read_token(token(HEADER, CLAIMS, b"\x00\xff"))
    assert (read.algorithm, read.key_id, read.claims, read.signature) == ("ES256", "k", CLAIMS, b"\x00\xff")
    assert read.signed.decode() == f"{segment(HEADER)}.{segment(CLAIMS)}"
    assert "id.example" not in repr(read)


@pytest.mark.parametrize("kind", ["JWT", "jwt", "at+jwt", "application/at+JWT"])
def test_a_token_need_not_name_its_key_nor_its_kind(kind: str) -> None:
    assert read_token(token({"alg": "ES256"}, CLAIMS)).key_id is None
    assert read_token(token({"alg": "ES256", "typ": kind}, CLAIMS)).key_id is None


@pytest.mark.parametrize(
    "header",
    [
        {},
        {"alg": None},
        {"alg": ""},
        {"alg": ["ES256"]},
        {"alg": "ES256", "kid": 7},
        {"alg": "ES256", "kid": ""},
        {"alg": "ES256", "kid": "k" * 257},
        {"alg": "ES256", "kid": None},
        {"alg": "ES256", "typ": "logout+jwt"},
        {"alg": "ES256", "typ": 7},
        {"alg": "ES256", "crit": ["exp"]},
        {"alg": "ES256", "crit": []},
        {"alg": "ES256", "jwk": {"kty": "EC"}},
        {"alg": "ES256", "jku": "https://evil.example/keys"},
        {"alg": "ES256", "x5u": "https://evil.example/cert"},
        {"alg": "ES256", "x5c": ["MII"]},
        {"alg": "ES256", "b64": False},
        {"alg": "dir", "enc": "A256GCM"},
        {"alg": "ES256", "zip": "DEF"},
    ],
    ids=str,
)
def test_a_header_that_wants_to_be_judged_its_own_way_is_refused(header: dict[str, object]) -> None:
    with pytest.raises(TokenInvalid):
        read_token(token(header, CLAIMS))


@pytest.mark.parametrize(
    "text",
    [
        "",
        ".",
        "..",
        "a.b",
        "a.b.c.d",
        "a.b.c.d.e",
        f"{segment(HEADER)}.{segment(CLAIMS)}.",
        f"{segment(HEADER)}.{segment(CLAIMS)}.a",
        f"{segment(HEADER)}=.{segment(CLAIMS)}.{b64(b's')}",
        f"{segment(HEADER)}.{segment(CLAIMS)}.YR",
        f"{segment(HEADER)}.{segment(CLAIMS)}. {b64(b's')}",
        f"{segment(HEADER)}.{segment(CLAIMS)}.{b64(b's')}\n",
        token(b"[]", CLAIMS),
        token(b"\xff\xfe", CLAIMS),
        token(b'{"alg": "ES256", "alg": "none"}', CLAIMS),
        token(HEADER, b'{"sub": "a", "sub": "b"}'),
        token(HEADER, b'{"a": {"b": 1, "b": 2}}'),
        token(HEADER, b'{"exp": NaN}'),
        token(HEADER, b'{"exp": -Infinity}'),
        token(HEADER, b'{"exp": ' + b"9" * 5000 + b"}"),
        token(HEADER, b'{"a": ' + b"[" * 4000),
        token(HEADER, b'{"a": ' + b"[" * 2500 + b"]" * 2500 + b"}"),
        token(HEADER, b'"text"'),
        token({"alg": "ES256", "kid": "k" * 1_000_000}, CLAIMS),
        token(HEADER, {"sub": "s" * LONGEST_TOKEN}),
    ],
    ids=lambda text: text[:40],
)
def test_what_is_no_plain_token_is_refused(text: str) -> None:
    with pytest.raises(TokenInvalid):
        read_token(text)


@given(st.text() | st.text("abcXYZ019-_.="))
def test_no_text_does_more_than_be_refused(text: str) -> None:
    with pytest.raises(TokenInvalid, match=r"^the token is not valid$"):
        read_token(text)


@given(st.dictionaries(st.text(max_size=6), anything, max_size=4), st.dictionaries(st.text(), anything, max_size=4))
def test_whatever_header_and_claims_say_they_are_read_or_refused(
    header: dict[str, object], claims: dict[str, object]
) -> None:
    text = token({"alg": "ES256", **header}, claims)
    try:
        read = read_token(text)
    except TokenInvalid:
        return
    assert read.claims == json.loads(json.dumps(claims))


@given(st.binary(min_size=1, max_size=64), st.integers(0, 200))
def test_no_token_has_two_texts(signature: bytes, place: int) -> None:
    text = token(HEADER, CLAIMS, signature)
    index = place % len(text)
    other = text[:index] + ("A" if text[index] != "A" else "B") + text[index + 1 :]
    try:
        read = read_token(other)
    except TokenInvalid:
        return
    assert (read.signed, read.signature) != (read_token(text).signed, signature)


def test_a_token_looks_otherwise_than_a_key() -> None:
    assert looks_like_a_token(token(HEADER, CLAIMS))
    assert not looks_like_a_token("dy_3f9c0a51be77_-secret_")
