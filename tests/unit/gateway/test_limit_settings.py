"""What may be set, and what is meant by what is left out."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.domain.access import Role
from gateway.domain.limit_layers import UNLIMITED, OwnLimits
from gateway.limit_settings import LimitSettings, RoleLimits


def test_nobody_is_stopped_by_the_usual_settings_who_does_not_flood() -> None:
    assert LimitSettings().everybody() == OwnLimits(600, 120, UNLIMITED, UNLIMITED, 64)
    assert LimitSettings().tenant_sessions == UNLIMITED


def test_a_role_has_its_own_and_the_rest_is_as_for_everybody() -> None:
    settings = LimitSettings.model_validate({"roles": {"trainee": {"turns_in_flight": 2, "request_burst": UNLIMITED}}})
    assert settings.roles == {Role.TRAINEE: RoleLimits(turns_in_flight=2, request_burst=UNLIMITED)}
    assert settings.roles[Role.TRAINEE].own() == OwnLimits(turns_in_flight=2, request_burst=UNLIMITED)


@pytest.mark.parametrize("nonsense", [{"turns_in_flight": 0}, {"request_burst": "none"}, {"roles": {"boss": {}}}])
def test_nonsense_is_refused(nonsense: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        LimitSettings.model_validate(nonsense)


def test_the_documentation_names_every_setting() -> None:
    page = (Path(__file__).parents[3] / "docs" / "limits.md").read_text()
    assert [name for name in LimitSettings.model_fields if f"`{name.upper()}`" not in page] == []
