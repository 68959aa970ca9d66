"""Who may call what."""

import pytest

from router.http.access import Access
from router.http.errors import Forbidden, Unauthenticated

BOTH = Access.of(clients=["client-key"], operators=["operator-key"])


def bearing(key: str) -> dict[bytes, bytes]:
    return {b"authorization": f"Bearer {key}".encode()}


def test_without_keys_everybody_may() -> None:
    Access().check_client({})
    Access().check_operator({})


def test_clients_need_theirs_and_operators_may_call_too() -> None:
    BOTH.check_client(bearing("client-key"))
    BOTH.check_client(bearing("operator-key"))
    for headers in ({}, bearing("other"), {b"authorization": b"Basic client-key"}, {b"authorization": b"client-key"}):
        with pytest.raises(Unauthenticated):
            BOTH.check_client(headers)


def test_a_client_is_no_operator() -> None:
    BOTH.check_operator(bearing("operator-key"))
    with pytest.raises(Unauthenticated, match="an operator's key is needed"):
        BOTH.check_operator(bearing("client-key"))


def test_only_operators_keys_leave_the_clients_open() -> None:
    access = Access.of(clients=[], operators=["operator-key"])
    access.check_client({})
    with pytest.raises(Unauthenticated):
        access.check_operator({})


def test_no_key_is_kept_as_it_is() -> None:
    assert "client-key" not in repr(BOTH)


def test_a_web_page_gives_no_orders_even_where_all_is_open() -> None:
    with pytest.raises(Forbidden):
        Access().check_operator({b"origin": b"http://evil.example"})
