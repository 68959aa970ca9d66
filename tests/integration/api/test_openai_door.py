"""Who may ask models without a scenario, and that trainees may only where the settings say so."""

from dataclasses import replace
from uuid import uuid4

import pytest

from gateway.api.openai_door import _as_let_in
from gateway.domain.access import Action, Principal, Role
from gateway.errors import Forbidden, ScopeMissing
from tests.integration.api.house import House

TRAINEE = Principal(uuid4(), uuid4(), Role.TRAINEE)


async def test_services_and_instructors_are_let_in(house: House) -> None:
    for role, status in (("service", 200), ("instructor", 200), ("operator", 403), ("trainee", 403)):
        assert (await getattr(house.here, role).get("/v1/models")).status_code == status, role


def test_trainees_are_let_in_where_the_settings_say_so() -> None:
    _as_let_in(TRAINEE, trainees=True).must(Action.COMPLETE_CHATS)
    with pytest.raises(Forbidden):
        _as_let_in(TRAINEE, trainees=False).must(Action.COMPLETE_CHATS)


def test_the_settings_are_about_trainees_alone() -> None:
    with pytest.raises(Forbidden):
        _as_let_in(replace(TRAINEE, role=Role.OPERATOR), trainees=True).must(Action.COMPLETE_CHATS)


def test_the_scopes_of_a_key_hold_all_the_same() -> None:
    narrow = replace(TRAINEE, scopes=frozenset({Action.TAKE_TURNS}))
    with pytest.raises(ScopeMissing):
        _as_let_in(narrow, trainees=True).must(Action.COMPLETE_CHATS)
