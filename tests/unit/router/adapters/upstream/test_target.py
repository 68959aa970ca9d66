"""What counts as an address, and what is taken from it."""

import pytest

from router.adapters.upstream.errors import TargetInvalid
from router.adapters.upstream.target import Origin, Target, target_of


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("http://10.0.0.7:8000", Target(Origin("10.0.0.7", 8000, False), "10.0.0.7:8000", "")),
        ("http://replica-1", Target(Origin("replica-1", 80, False), "replica-1", "")),
        ("https://Replica-1/", Target(Origin("replica-1", 443, True), "Replica-1", "")),
        ("http://[::1]:8000/engines/a/", Target(Origin("::1", 8000, False), "[::1]:8000", "/engines/a")),
    ],
)
def test_an_address_says_where_to_connect_and_what_to_ask(url: str, target: Target) -> None:
    assert target_of(url) == target


@pytest.mark.parametrize(
    "url",
    [
        "",
        "replica-1:8000",
        "ftp://replica-1",
        "http://",
        "http://replica-1:99999",
        "http://replica-1:port",
        "http://[::1",
        "http://user:word@replica-1",
        "http://replica-1?x=1",
        "http://replica-1#x",
        "http://replica-1/a b",
        "http://replica-1/\r\nx: y",
        "http://réplica",
    ],
)
def test_anything_else_is_refused(url: str) -> None:
    with pytest.raises(TargetInvalid):
        target_of(url)
