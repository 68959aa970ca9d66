"""The commands for limits against the API over real HTTP."""

import re
from collections.abc import Callable
from uuid import uuid4

import pytest

from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command, Ended

Limits = Callable[..., Ended]


@pytest.fixture
def limits(drillyard: Command, api: Running) -> Limits:
    def run(*words: str) -> Ended:
        return drillyard("limits", *words, "--base-url", api.house.base_url, "--key", api.key)

    return run


def rows(ended: Ended) -> dict[str, tuple[str, str]]:
    """Each limit as it stands in the table, and who has set it."""
    assert ended.code == 0, ended
    found = (re.findall(r"[^│┃]+", line) for line in ended.out.splitlines() if line.startswith("│"))
    return {cells[0].strip(): (cells[1].strip(), cells[2].strip()) for cells in found}


def account_of(api: Running, role: str) -> str:
    named = api.house.keys.named.values()
    return next(str(one.id) for one in named if one.tenant == api.house.here.tenant and one.role == role)


def test_what_holds_is_shown_with_who_has_set_it(limits: Limits) -> None:
    assert rows(limits("show")) == {
        "requests per minute": ("600", "installation"),
        "request burst": ("120", "installation"),
        "input tokens per minute": ("unlimited", "installation"),
        "output tokens per minute": ("unlimited", "installation"),
        "turns in flight": ("64", "installation"),
        "sessions": ("unlimited", "installation"),
    }


def test_a_change_leaves_what_it_does_not_name(limits: Limits, api: Running) -> None:
    rows(limits("set", "--request-burst", "30", "--sessions", "500"))
    tenant = rows(limits("set", "--turns-in-flight", "unlimited"))
    assert (tenant["request burst"], tenant["sessions"]) == (("30", "tenant"), ("500", "tenant"))
    assert tenant["turns in flight"] == ("unlimited", "tenant")
    account = ("--account", account_of(api, "trainee"))
    mine = rows(limits("set", *account, "--turns-in-flight", "2", "--request-burst", "9"))
    assert (mine["turns in flight"], mine["request burst"]) == (("2", "account"), ("9", "account"))
    mine = rows(limits("set", *account, "--request-burst", "inherit"))
    assert (mine["turns in flight"], mine["request burst"]) == (("2", "account"), ("30", "tenant"))
    assert rows(limits("clear", *account))["turns in flight"] == ("unlimited", "tenant")
    assert rows(limits("clear"))["turns in flight"] == ("64", "installation")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "at least one limit"),
        (("--request-burst", "0"), "'0' is neither"),
        (("--request-burst", "-5"), "'-5' is neither"),
        (("--request-burst", "many"), "'many' is neither"),
        (("--account", str(uuid4()), "--sessions", "5"), "not for one account"),
    ],
)
def test_wrong_options_are_told_and_set_nothing(limits: Limits, words: tuple[str, ...], told: str) -> None:
    ended = limits("set", *words)
    assert ended.code == 2
    assert told in " ".join(ended.err.replace("│", " ").split())
    assert rows(limits("show"))["request burst"] == ("120", "installation")


def test_what_the_server_refuses_is_told_in_one_line(limits: Limits, drillyard: Command, api: Running) -> None:
    for words in (("show",), ("clear",), ("set", "--request-burst", "5")):
        ended = limits(*words, "--account", str(uuid4()))
        assert (ended.code, ended.out) == (1, "")
        assert "account_not_found" in ended.err or "no such account" in ended.err
    ended = drillyard("limits", "show", "--base-url", api.house.base_url, "--key", api.instructor_key)
    assert ended.code == 1
    assert "may not read limits" in ended.err
