from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.access import Role
from gateway.domain.token_claims import ClaimRules, claimed, identity
from gateway.errors import NotEnrolled, TokenInvalid

NOW = 1_800_000_000.0
RULES = ClaimRules(
    issuer="https://id.example/realms/drill/",
    audiences=frozenset({"drillyard", "drillyard-test"}),
    algorithms=frozenset({"ES256"}),
    tenant_claim="tenant",
    account_claim="sub",
    roles_claim="realm_access.roles",
    name_claim="name",
    roles={"drill-trainee": Role.TRAINEE, "drill-lead": Role.INSTRUCTOR},
)
CLAIMS: dict[str, object] = {
    "iss": "https://id.example/realms/drill/",
    "aud": "drillyard",
    "sub": "u-7",
    "exp": NOW + 300,
    "tenant": "acme",
    "realm_access": {"roles": ["drill-trainee", "offline_access"]},
    "name": "李伟",
}


def with_(**changes: object) -> dict[str, object]:
    return {name: value for name, value in {**CLAIMS, **changes}.items() if value is not ...}


def test_a_good_token_says_who_it_is() -> None:
    who = identity(CLAIMS, RULES, now=NOW)
    assert who.account_name == "id.example/realms/drill|u-7"
    assert (who.tenant, who.display_name) == ("acme", "李伟")
    assert who.roles == {Role.TRAINEE}
    assert who.ends_at == NOW + 330


@pytest.mark.parametrize("audience", ["drillyard-test", ["other", "drillyard"]])
def test_one_of_the_audiences_is_enough(audience: object) -> None:
    assert identity(with_(aud=audience), RULES, now=NOW).subject == "u-7"


WRONG: dict[str, tuple[object, ...]] = {
    "iss": (..., None, "https://id.example/realms/drill", ["https://id.example/realms/drill/"]),
    "aud": (..., None, "", "another", [], [["drillyard"]], {"drillyard": 1}, 7),
    "sub": (..., None, "", 7, "s" * 256, "a\x00b", "a\nb", "\ud800"),
    "exp": (..., None, True, "soon", [], -1, 1e300, 10**400, NOW - 30, NOW - 31, NOW + 86_401),
    "nbf": (NOW + 31, "now", None),
    "iat": (NOW + 31, "now", None, False, NOW - 86_400),
}
UNKNOWN: dict[str, tuple[object, ...]] = {
    "tenant": (..., None, "", 7, "Acme", "a b", "-a", "a" * 64, "acme\n", ["acme"]),
    "realm_access": (
        *(..., None, [], {}, {"roles": None}, {"roles": [["drill-lead"]]}),
        *({"roles": ["trainee"]}, {"roles": {"drill-lead": True}}),
    ),
}


def each(faults: dict[str, tuple[object, ...]]) -> list[dict[str, object]]:
    return [{name: value} for name, values in faults.items() for value in values]


@pytest.mark.parametrize("changes", each(WRONG), ids=str)
def test_each_fault_makes_a_token_invalid(changes: dict[str, object]) -> None:
    with pytest.raises(TokenInvalid):
        identity(with_(**changes), RULES, now=NOW)


@pytest.mark.parametrize(
    "changes", [{"exp": NOW - 29}, {"nbf": NOW + 29, "iat": NOW + 29}, {"exp": NOW + 86_400}, {"nbf": NOW - 1}], ids=str
)
def test_clocks_may_differ_a_little(changes: dict[str, object]) -> None:
    assert identity(with_(**changes), RULES, now=NOW).subject == "u-7"


@pytest.mark.parametrize("changes", each(UNKNOWN), ids=str)
def test_a_good_token_without_a_tenant_or_a_role_is_not_enrolled(changes: dict[str, object]) -> None:
    with pytest.raises(NotEnrolled):
        identity(with_(**changes), RULES, now=NOW)


def test_roles_may_be_words_and_several() -> None:
    spelled = with_(realm_access={"roles": "drill-trainee other drill-lead"})
    assert identity(spelled, RULES, now=NOW).roles == {Role.TRAINEE, Role.INSTRUCTOR}


def test_a_tenant_may_be_named_by_its_id() -> None:
    written = "0190a6b4-8f00-7000-8000-000000000001"
    assert identity(with_(tenant=written), RULES, now=NOW).tenant == UUID(written)


def test_an_issuer_speaks_for_its_tenants_alone() -> None:
    rules = replace(RULES, tenants=frozenset({"globex", "initech"}))
    assert identity(with_(tenant="initech"), rules, now=NOW).tenant == "initech"
    with pytest.raises(NotEnrolled):
        identity(CLAIMS, rules, now=NOW)


def test_an_issuer_of_one_tenant_needs_no_claim_and_obeys_none() -> None:
    rules = replace(RULES, only_tenant="globex")
    assert identity(CLAIMS, rules, now=NOW).tenant == "globex"
    assert identity(with_(tenant=...), rules, now=NOW).tenant == "globex"


@pytest.mark.parametrize(
    ("name", "shown"),
    [(..., None), (7, None), ("", None), ("\x00\n", None), (" Li\x00 ", "Li"), ("n" * 300, "n" * 100)],
)
def test_a_name_is_what_can_be_shown_of_it(name: object, shown: str | None) -> None:
    assert identity(with_(name=name), RULES, now=NOW).display_name == shown


def test_a_claim_whose_name_has_dots_comes_before_a_path() -> None:
    claims = {"a.b": 1, "a": {"b": 2}, "https://id.example/roles": ["x"]}
    assert claimed(claims, "a.b") == 1
    assert claimed({"a": {"b": 2}}, "a.b") == 2
    assert claimed({"a": [2]}, "a.b") is None
    assert claimed(claims, "https://id.example/roles") == ["x"]


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*CLAIMS, "nbf", "iat"]), values))
def test_whatever_claims_say_they_name_somebody_or_are_refused(changes: dict[str, object]) -> None:
    try:
        who = identity({**CLAIMS, **changes}, RULES, now=NOW)
    except (TokenInvalid, NotEnrolled):
        return
    assert who.roles <= {Role.TRAINEE, Role.INSTRUCTOR}
    assert who.ends_at > NOW
