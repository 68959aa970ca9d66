from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from gateway.domain.access import (
    ALLOWED,
    Action,
    KeyId,
    KeyState,
    Principal,
    Role,
    StoredKey,
    digest,
    new_key,
    presented,
    principal,
    strongest,
    written,
)
from gateway.errors import Forbidden, ScopeMissing, Unauthenticated

NOW = datetime(2026, 3, 1, tzinfo=UTC)
OWNER = Principal(uuid4(), uuid4(), Role.TRAINEE)


def stored(*, expires_at: datetime | None = None, revoked_at: datetime | None = None) -> StoredKey:
    return StoredKey(KeyId("k1"), digest("secret"), OWNER, expires_at, revoked_at)


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_a_written_key_is_understood_again(scheme: str) -> None:
    shown = presented(f"{scheme} {written(KeyId('k1'), 'se_cret')}")
    assert (shown.id, shown.secret_sha256) == ("k1", digest("se_cret"))


@pytest.mark.parametrize(
    "header",
    [
        *(None, "", "Bearer", "Bearer ", "Basic dy_a_b", "Bearer dy", "Bearer dy_", "Bearer dy_a", "Bearer dy_a_"),
        *("Bearer dy__b", "Bearer sk_a_b", "Bearer dy_ä_b", "dy_a_b"),
    ],
)
def test_what_is_no_key_of_ours_is_refused(header: str | None) -> None:
    with pytest.raises(Unauthenticated):
        presented(header)


def test_the_right_secret_is_its_owner() -> None:
    shown = presented("Bearer dy_k1_secret")
    assert principal(shown, stored(), now=NOW) == OWNER
    assert principal(shown, stored(expires_at=NOW + timedelta(seconds=1)), now=NOW) == OWNER


@pytest.mark.parametrize(
    ("secret", "found"),
    [
        ("secret", None),
        ("wrong", stored()),
        ("secret", stored(expires_at=NOW)),
        ("secret", stored(expires_at=NOW - timedelta(days=1))),
        ("secret", stored(revoked_at=NOW - timedelta(days=1))),
    ],
)
def test_unknown_wrong_expired_and_revoked_keys_are_refused_alike(secret: str, found: StoredKey | None) -> None:
    with pytest.raises(Unauthenticated, match=r"^the API key is not valid$"):
        principal(presented(f"Bearer dy_k1_{secret}"), found, now=NOW)


def test_a_new_key_opens_the_door_to_its_owner() -> None:
    made = new_key(OWNER, dice=lambda count: bytes(range(count)), expires_at=NOW + timedelta(days=1))
    shown = presented(f"Bearer {made.written}")
    assert shown.id == made.stored.id
    assert principal(shown, made.stored, now=NOW) == OWNER
    with pytest.raises(Unauthenticated):
        principal(shown, made.stored, now=NOW + timedelta(days=1))


def test_a_new_key_is_thrown_anew_each_time_and_its_secret_shows_nowhere_else() -> None:
    made = new_key(OWNER, dice=lambda count: b"1" * count)
    other = new_key(OWNER, dice=lambda count: b"2" * count)
    assert made.stored.id != other.stored.id
    assert made.stored.secret_sha256 != other.stored.secret_sha256
    assert made.written.split("_", 2)[2] not in repr(made)


@pytest.mark.parametrize(
    ("key", "state"),
    [
        (stored(), KeyState.LIVE),
        (stored(expires_at=NOW + timedelta(seconds=1)), KeyState.LIVE),
        (stored(expires_at=NOW), KeyState.EXPIRED),
        (stored(expires_at=NOW, revoked_at=NOW), KeyState.REVOKED),
    ],
)
def test_a_key_says_whether_it_still_works(key: StoredKey, state: KeyState) -> None:
    assert key.state(NOW) is state


@pytest.mark.parametrize("action", Action)
def test_others_sessions_are_open_to_who_may_by_a_role_that_is_no_trainees(action: Action) -> None:
    for role in Role:
        may = action in ALLOWED[role] and role is not Role.TRAINEE
        assert Principal(uuid4(), uuid4(), role).sees_all(action) == may


def test_who_has_two_roles_may_do_what_either_may_and_plays_the_own_sessions_only() -> None:
    both = Principal(uuid4(), uuid4(), Role.INSTRUCTOR, frozenset({Role.TRAINEE}))
    assert both.roles == {Role.INSTRUCTOR, Role.TRAINEE}
    both.must(Action.TAKE_TURNS)
    both.must(Action.WRITE_SCENARIOS)
    assert both.sees_all(Action.READ_SESSIONS)
    assert not both.sees_all(Action.TAKE_TURNS)
    with pytest.raises(Forbidden):
        both.must(Action.ORDER_FLEET)


def test_the_strongest_role_of_several_is_told() -> None:
    assert strongest({Role.TRAINEE}) is Role.TRAINEE
    assert strongest({Role.TRAINEE, Role.SERVICE}) is Role.SERVICE
    assert strongest(set(Role)) is Role.OPERATOR


def test_a_key_does_no_more_than_its_scopes_and_its_role_allow() -> None:
    reader = Principal(uuid4(), uuid4(), Role.TRAINEE, scopes=frozenset({Action.READ_SESSIONS, Action.ORDER_FLEET}))
    reader.must(Action.READ_SESSIONS)
    with pytest.raises(ScopeMissing, match="do not let it take turns"):
        reader.must(Action.TAKE_TURNS)
    with pytest.raises(Forbidden):
        reader.must(Action.ORDER_FLEET)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("action", Action)
def test_what_is_not_in_the_table_is_forbidden(role: Role, action: Action) -> None:
    somebody = Principal(uuid4(), uuid4(), role)
    if action in ALLOWED[role]:
        somebody.must(action)
        return
    with pytest.raises(Forbidden, match=f"the role {role} may not {action}") as caught:
        somebody.must(action)
    assert (caught.value.role, caught.value.action) == (role, action)
