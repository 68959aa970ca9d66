"""Every error that can reach the edge has a status and a stable code."""

import re
from collections.abc import Iterator

import pytest

from gateway.errors import GatewayError
from gateway.problems import KINDS
from router.errors import RouterError
from sessions.errors import SessionsError


def leaves(error: type[Exception]) -> Iterator[type[Exception]]:
    children = error.__subclasses__()
    if not children:
        yield error
    for child in children:
        yield from leaves(child)


LEAVES = [leaf for root in (GatewayError, RouterError, SessionsError) for leaf in leaves(root)]


@pytest.mark.parametrize("error", LEAVES, ids=lambda error: error.__name__)
def test_an_error_has_a_status_and_a_code(error: type[Exception]) -> None:
    assert error in KINDS


def test_codes_are_stable_words() -> None:
    assert all(re.fullmatch(r"[a-z]+(_[a-z]+)*", kind.code) for kind in KINDS.values())
