import asyncio
import re
from datetime import UTC, datetime

import pytest

from gateway.domain.access import Role, StoredKey, presented, principal
from gateway.wiring.authoring import administration
from tests.integration.cli.conftest import Command, Ended

pytestmark = pytest.mark.postgres


@pytest.fixture
def keys(drillyard: Command, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Command:
    monkeypatch.setenv("DRILLYARD_DATABASE_URL", database_url)

    def run(*words: str) -> Ended:
        return drillyard("keys", *words)

    return run


def created(keys: Command, *words: str, role: str = "trainee", name: str = "li.wei") -> Ended:
    return keys("create", "--tenant", "acme", "--role", role, "--name", name, *words)


def key_id(ended: Ended) -> str:
    return ended.out.split("_")[1]


def test_a_new_key_is_the_only_thing_printed(keys: Command) -> None:
    ended = created(keys)
    assert ended.code == 0, ended
    assert ended.out.startswith("dy_")
    assert ended.out.count("\n") == 1
    assert "tenant acme (new), never expires" in ended.err
    assert re.search(r"of trainee li\.wei, account [0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}, tenant", ended.err)
    assert ended.out.strip().split("_", 2)[2] not in ended.err


def test_the_list_tells_states_and_no_secret(keys: Command) -> None:
    first, second = created(keys, "--expires", "90d"), created(keys, role="instructor", name="王老师")
    assert keys("revoke", "--tenant", "acme", key_id(first)).out == f"key {key_id(first)} is revoked\n"
    listed = keys("list", "--tenant", "acme")
    assert listed.code == 0
    assert "revoked" in listed.out
    assert "live" in listed.out
    assert "王老师" in listed.out
    for ended in (first, second):
        assert key_id(ended) in listed.out
        assert ended.out.strip().split("_", 2)[2] not in listed.out


def test_a_key_is_revoked_once(keys: Command) -> None:
    found = key_id(created(keys))
    assert keys("revoke", "--tenant", "acme", found).code == 0
    again = keys("revoke", "--tenant", "acme", found)
    assert again.code == 1
    assert "no living key of this id" in again.err


def test_a_name_keeps_its_role(keys: Command) -> None:
    created(keys)
    ended = created(keys, role="operator")
    assert ended.code == 1
    assert ended.err == "drillyard: the account 'li.wei' exists and is of the role trainee\n"


def test_a_key_tells_what_it_is_for_and_whether_it_was_used(keys: Command) -> None:
    ended = created(keys, "--label", "hall 3", "--scope", "read_sessions", "--scope", "take_turns")
    assert ended.code == 0, ended
    listed = keys("list", "--tenant", "acme").out
    for told in ("hall 3", "read_sessions", "take_turns", "never"):
        assert told in listed


def test_a_key_is_rotated_by_one_that_is_for_the_same_things(keys: Command, database_url: str) -> None:
    first = created(keys, "--label", "kiosk", "--scope", "read_sessions")
    second = keys("rotate", "--tenant", "acme", key_id(first), "--expires", "90d")
    assert second.code == 0, second
    assert second.out.startswith("dy_")
    assert f"keys revoke --tenant acme {key_id(first)}" in second.err

    async def stored() -> dict[str, StoredKey]:
        async with administration(database_url) as admin:
            tenant = await admin.accounts.tenant_id("acme")
            assert tenant is not None
            return {str(key.id): key for key, _ in await admin.keys.of_tenant(tenant)}

    found = asyncio.run(stored())
    old, new = found[key_id(first)], found[key_id(second)]
    assert (new.principal, new.label) == (old.principal, "kiosk")
    assert (old.expires_at, old.revoked_at) == (None, None)
    third = keys("rotate", "--tenant", "acme", key_id(second))
    assert third.code == 1
    assert "has 2 living keys already" in third.err
    assert keys("revoke", "--tenant", "acme", key_id(first)).code == 0
    assert "no living key" in keys("rotate", "--tenant", "acme", key_id(first)).err
    assert keys("rotate", "--tenant", "acme", key_id(second)).code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--label", "a\nb"), "the label cannot be used"),
        (("--scope", "order_fleet"), "a key of the role trainee may have"),
        (("--expires", "soon"), "no lifetime of a key"),
        (("--expires", "0d"), "no lifetime of a key"),
        (("--tenant", "Acme Ltd"), "the tenant cannot be named so"),
        (("--name", " "), "the name cannot be used"),
    ],
)
def test_what_cannot_be_a_key_is_told_in_one_line(keys: Command, words: tuple[str, ...], told: str) -> None:
    ended = created(keys, *words)
    assert ended.code == 1
    assert told in ended.err
    assert ended.err.count("\n") == 1


def test_an_unknown_role_is_wrong_usage(keys: Command) -> None:
    assert created(keys, role="boss").code == 2


def test_an_unknown_tenant_is_told(keys: Command) -> None:
    assert "there is no tenant acme" in keys("list", "--tenant", "acme").err


def test_the_printed_key_is_the_one_that_is_stored(keys: Command, database_url: str) -> None:
    shown = presented(f"Bearer {created(keys, '--expires', '12h').out.strip()}")

    async def stored() -> StoredKey | None:
        async with administration(database_url) as admin:
            return await admin.keys.find(shown.id)

    assert principal(shown, asyncio.run(stored()), now=datetime.now(UTC)).role is Role.TRAINEE
