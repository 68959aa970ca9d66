"""A client cannot choose its address: only what trusted hops say counts, from the right."""

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.forwarded import Hop, Origin, network_of, of_forwarded, of_x_forwarded, origin

TRUSTED: tuple[IPv4Network | IPv6Network, ...] = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))
CLIENT = ip_address("203.0.113.7")


def seen(peer: str, addresses: str, schemes: str = "") -> Origin:
    return origin(peer, of_x_forwarded([addresses] if addresses else [], [schemes] if schemes else []), TRUSTED)


def test_a_peer_that_is_not_trusted_is_the_client_whatever_it_says() -> None:
    assert seen("203.0.113.7", "198.51.100.1, 10.0.0.1", "https") == Origin(CLIENT, None)


def test_a_trusted_peer_that_says_nothing_is_the_client() -> None:
    assert seen("10.0.0.1", "") == Origin(ip_address("10.0.0.1"), None)


def test_the_client_is_the_first_from_the_right_that_is_not_trusted() -> None:
    assert seen("10.0.0.1", "198.51.100.1, 203.0.113.7", "https") == Origin(CLIENT, "https")
    assert seen("10.0.0.1", "198.51.100.1, 203.0.113.7, 10.0.0.2", "https") == Origin(CLIENT, "https")
    assert seen("fd00::1", "203.0.113.7", "http") == Origin(CLIENT, "http")


def test_where_all_are_trusted_the_first_is_the_client() -> None:
    assert seen("10.0.0.1", "10.0.0.9, 10.0.0.2").address == ip_address("10.0.0.9")


@pytest.mark.parametrize("unreadable", ["unknown", "_hidden", "999.1.1.1", "a b", '"', "1.2.3.4.5"])
def test_an_address_that_cannot_be_read_ends_the_search(unreadable: str) -> None:
    assert seen("10.0.0.1", f"203.0.113.7, {unreadable}").address is None
    assert seen("10.0.0.1", f"{unreadable}, 203.0.113.7").address == CLIENT


def test_schemes_go_with_their_hops_and_those_that_a_client_added_go_with_none() -> None:
    assert seen("10.0.0.1", "203.0.113.7", "https, http").scheme == "http"
    assert seen("10.0.0.1", "203.0.113.7, 10.0.0.2", "https, http").scheme == "https"
    assert seen("10.0.0.1", "203.0.113.7, 10.0.0.3, 10.0.0.2", "https, http").scheme is None
    assert seen("10.0.0.1", "203.0.113.7", "gopher").scheme is None
    assert seen("10.0.0.1", "203.0.113.7", "HTTPS").scheme == "https"


def test_a_peer_without_an_address_is_nobody() -> None:
    assert seen("", "203.0.113.7") == Origin(None, None)


@pytest.mark.parametrize(
    ("written", "address"),
    [
        ("203.0.113.7:4711", "203.0.113.7"),
        ("[2001:db8::1]:4711", "2001:db8::1"),
        ("[2001:db8::1]", "2001:db8::1"),
        ("2001:db8::1", "2001:db8::1"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
    ],
)
def test_addresses_may_carry_ports_and_brackets(written: str, address: str) -> None:
    assert of_x_forwarded([written], []) == [Hop(ip_address(address), None)]


def test_the_standard_header_says_the_same() -> None:
    lines = [
        'for=198.51.100.1, For="[2001:db8::1]:4711";proto=https;by=10.0.0.1',
        'for="_hi,d;en";host="a,b"; proto=HTTP',
    ]
    assert of_forwarded(lines) == [
        Hop(ip_address("198.51.100.1")),
        Hop(ip_address("2001:db8::1"), "https"),
        Hop(None, "http"),
    ]
    assert origin("10.0.0.1", of_forwarded(["for=1.1.1.1;proto=http, for=203.0.113.7;proto=https"]), TRUSTED) == Origin(
        CLIENT, "https"
    )


def test_only_a_network_is_kept_of_an_address() -> None:
    assert network_of(CLIENT) == "203.0.113.0/24"
    assert network_of(ip_address("2001:db8:1:2::3")) == "2001:db8:1::/48"
    assert network_of(ip_address("::ffff:203.0.113.7")) == "203.0.113.0/24"


@given(st.lists(st.text(max_size=30), max_size=4), st.lists(st.text(max_size=10), max_size=4))
def test_what_a_client_writes_before_the_proxys_word_changes_nothing(said: list[str], schemes: list[str]) -> None:
    theirs = [line.replace("\n", " ") for line in said]
    hops = of_x_forwarded([*theirs, "203.0.113.7"], [*schemes, "https"])
    assert origin("10.0.0.1", hops, TRUSTED) == Origin(CLIENT, "https")


@given(st.lists(st.text(max_size=40), max_size=4))
def test_any_text_is_read_without_a_fault(lines: list[str]) -> None:
    of_forwarded(lines)
    assert origin("203.0.113.7", of_x_forwarded(lines, lines), TRUSTED).address == CLIENT
