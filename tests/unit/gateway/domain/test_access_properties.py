"""API keys against whatever may stand in a header."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.access import KeyId, digest, presented, written
from gateway.errors import Unauthenticated

ids = st.text(string.hexdigits, min_size=1, max_size=40)
secrets = st.text(string.ascii_letters + string.digits + "-_", min_size=1, max_size=60)


@given(ids, secrets, st.sampled_from(["Bearer", "bearer", "BEARER"]), st.sampled_from(["", " ", "  "]))
def test_every_key_we_write_is_understood(key: str, secret: str, scheme: str, space: str) -> None:
    shown = presented(f"{scheme} {space}{written(KeyId(key), secret)}{space}")
    assert (shown.id, shown.secret_sha256) == (key, digest(secret))


@given(st.text())
def test_any_other_header_is_refused_or_names_a_key_and_a_secret(header: str) -> None:
    try:
        shown = presented(header)
    except Unauthenticated:
        return
    assert shown.id
    assert header.isascii()


@given(ids, secrets, st.characters(min_codepoint=128))
def test_a_key_with_other_than_ascii_is_refused(key: str, secret: str, odd: str) -> None:
    with pytest.raises(Unauthenticated):
        presented(f"Bearer dy_{key}_x{odd}{secret}")
