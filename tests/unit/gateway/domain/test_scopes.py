import pytest

from gateway.domain.access import ALLOWED, Action, Role
from gateway.domain.scopes import asked_scopes, read_scopes, scope, written_scopes
from gateway.errors import FieldInvalid


@pytest.mark.parametrize("role", Role)
def test_what_a_role_may_do_can_be_a_scope_and_comes_back_as_it_was(role: Role) -> None:
    actions = ALLOWED[role] - {Action.MANAGE_KEYS}
    asked = asked_scopes([scope(action) for action in actions], role)
    assert asked == actions
    assert read_scopes(written_scopes(asked)) == actions


def test_no_scopes_are_another_thing_than_none_at_all() -> None:
    assert asked_scopes(None, Role.TRAINEE) is None
    assert written_scopes(None) is None
    assert read_scopes(None) is None
    assert read_scopes([]) == frozenset()


@pytest.mark.parametrize(
    ("written", "role"),
    [
        ([], Role.TRAINEE),
        (["order_fleet"], Role.TRAINEE),
        (["TAKE_TURNS"], Role.TRAINEE),
        (["take turns"], Role.TRAINEE),
        (["manage_keys"], Role.OPERATOR),
    ],
)
def test_a_scope_that_nobody_or_not_this_role_may_have_is_refused(written: list[str], role: Role) -> None:
    with pytest.raises(FieldInvalid, match="scopes"):
        asked_scopes(written, role)


def test_a_scope_that_nobody_knows_any_more_allows_nothing() -> None:
    assert read_scopes(["take_turns", "of_a_later_version"]) == frozenset({Action.TAKE_TURNS})
