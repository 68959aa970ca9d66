import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from gateway.access_settings import AccessSettings, IssuerSettings
from gateway.domain.access import Role
from gateway.settings import load, reasons

ISSUER = {"issuer": "https://id.example/realms/drill", "audience": "drillyard"}


def test_an_issuer_needs_an_address_and_an_audience_only() -> None:
    rules = IssuerSettings.model_validate(ISSUER).rules
    assert rules.audiences == {"drillyard"}
    assert rules.algorithms == {"RS256", "ES256", "EdDSA"}
    assert rules.roles == {role.value: role for role in Role}
    assert (rules.tenant_claim, rules.account_claim, rules.roles_claim) == ("tenant", "sub", "roles")


def test_all_of_it_can_be_said_otherwise() -> None:
    rules = IssuerSettings.model_validate(
        {
            **ISSUER,
            "audience": ["a", "b"],
            "algorithms": ["PS512"],
            "tenant": "acme",
            "roles_claim": "realm_access.roles",
            "roles": {"coach": "instructor"},
            "leeway_s": 0,
        }
    ).rules
    assert rules.audiences == {"a", "b"}
    assert (rules.only_tenant, rules.roles, rules.leeway_s) == ("acme", {"coach": Role.INSTRUCTOR}, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"algorithms": ["HS256"]}, "HS256 cannot be trusted"),
        ({"algorithms": ["RS256", "none"]}, "none cannot be trusted"),
        ({"algorithms": []}, "at least 1"),
        ({"issuer": "http://id.example"}, "https"),
        ({"issuer": "https://user:secret@id.example"}, "https"),
        ({"jwks_url": "http://10.0.0.1/keys"}, "https"),
        ({"audience": ""}, "audience"),
        ({"audience": []}, "audience"),
        ({"audience": ["drillyard", ""]}, "audience"),
        ({"roles": {}}, "at least 1"),
        ({"roles": {"x": "admin"}}, "trainee"),
        ({"tenant": "acme", "tenants": ["acme"]}, "either"),
        ({"tenant": "Acme!"}, "small letters"),
        ({"leeway_s": 301}, "300"),
    ],
    ids=str,
)
def test_what_would_let_strangers_in_is_refused_when_settings_are_read(changes: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        IssuerSettings.model_validate({**ISSUER, **changes})


def test_one_of_several_issuers_may_not_speak_for_everybody() -> None:
    other = {"issuer": "https://id.other.example", "audience": "drillyard"}
    with pytest.raises(ValidationError, match="for whom it speaks"):
        AccessSettings.model_validate({"issuers": [ISSUER, {**other, "tenant": "globex"}]})
    both = {"issuers": [{**ISSUER, "tenants": ["acme"]}, {**other, "tenant": "globex"}]}
    assert len(AccessSettings.model_validate(both).issuers) == 2
    with pytest.raises(ValidationError, match="two are the same"):
        AccessSettings.model_validate({"issuers": [ISSUER, ISSUER]})


def test_certificates_that_are_not_there_are_noticed_at_once(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="there is no file"):
        AccessSettings(ca_file=tmp_path / "none.pem")


def test_issuers_stand_in_one_variable_and_what_is_wrong_with_them_is_told_by_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in (
        ("REDIS_URL", "redis://127.0.0.1/0"),
        ("DATABASE_URL", "postgresql://127.0.0.1/d"),
        ("MODEL__NAME", "m"),
        ("MODEL__FOLDER", "/m"),
    ):
        monkeypatch.setenv(f"DRILLYARD_{name}", value)
    monkeypatch.setenv("DRILLYARD_ACCESS__ISSUERS", json.dumps([{**ISSUER, "roles": {"coach": "instructor"}}]))
    assert load().access.issuers[0].roles == {"coach": Role.INSTRUCTOR}
    monkeypatch.setenv("DRILLYARD_ACCESS__ISSUERS", json.dumps([{**ISSUER, "algorithms": ["HS256"]}]))
    with pytest.raises(ValidationError) as caught:
        load()
    (told,) = reasons(caught.value)
    assert told.startswith("DRILLYARD_ACCESS__ISSUERS__0__ALGORITHMS: HS256 cannot be trusted")


def test_the_example_of_the_documentation_works() -> None:
    page = (Path(__file__).parents[3] / "docs" / "access.md").read_text()
    written = page.partition("DRILLYARD_ACCESS__ISSUERS='")[2].partition("'")[0]
    (issuer,) = AccessSettings.model_validate({"issuers": json.loads(written)}).issuers
    assert issuer.tenant == "acme"


def test_every_setting_is_documented() -> None:
    page = (Path(__file__).parents[3] / "docs" / "access.md").read_text()
    for name in (*IssuerSettings.model_fields, *(field.upper() for field in AccessSettings.model_fields)):
        assert f"`{name}`" in page or f"__{name}" in page, name


def test_by_default_there_are_keys_only() -> None:
    assert AccessSettings().issuers == ()
