"""The nearest word on a limit counts."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.limit_layers import (
    NAMES,
    UNLIMITED,
    Effective,
    OwnLimits,
    Source,
    TenantOwn,
    account_limits,
    effective,
    is_set,
    settings_of,
    tenant_limits,
    tenant_sessions,
)
from gateway.domain.limits import AccountLimits, TenantLimits

LIMITS = st.one_of(st.none(), st.just(UNLIMITED), st.integers(min_value=1, max_value=9))
OWN = st.builds(OwnLimits, **dict.fromkeys(NAMES, LIMITS))


def test_the_names_are_those_of_an_account_s_limits() -> None:
    assert tuple(AccountLimits.__dataclass_fields__) == NAMES


def test_each_limit_is_decided_by_itself() -> None:
    layers = (
        (Source.ACCOUNT, OwnLimits(turns_in_flight=2)),
        (Source.TENANT, OwnLimits(turns_in_flight=9, request_burst=UNLIMITED)),
        (Source.INSTALLATION, OwnLimits(600, 120, UNLIMITED, None, 64)),
    )
    assert effective(layers) == {
        "requests_per_minute": Effective(600, Source.INSTALLATION),
        "request_burst": Effective(None, Source.TENANT),
        "input_tokens_per_minute": Effective(None, Source.INSTALLATION),
        "output_tokens_per_minute": Effective(None, Source.INSTALLATION),
        "turns_in_flight": Effective(2, Source.ACCOUNT),
    }
    assert account_limits(layers) == AccountLimits(600, None, None, None, 2)


@given(st.lists(st.tuples(st.sampled_from(Source), OWN), max_size=5))
def test_a_layer_that_says_nothing_changes_nothing(layers: list[tuple[Source, OwnLimits]]) -> None:
    for place in range(len(layers) + 1):
        assert effective([*layers[:place], (Source.ROLE, OwnLimits()), *layers[place:]]) == effective(layers)


@given(OWN, st.lists(st.tuples(st.sampled_from(Source), OWN), max_size=3))
def test_the_first_word_is_the_last(own: OwnLimits, further: list[tuple[Source, OwnLimits]]) -> None:
    found = effective([(Source.ACCOUNT, own), *further])
    for name, value in settings_of(own).items():
        if value is not None:
            assert found[name] == Effective(None if value == UNLIMITED else value, Source.ACCOUNT)


def test_a_tenant_s_sessions() -> None:
    assert tenant_sessions(TenantOwn(), 5) == Effective(5, Source.INSTALLATION)
    assert tenant_sessions(TenantOwn(sessions=3), 5) == Effective(3, Source.TENANT)
    assert tenant_limits(TenantOwn(sessions=UNLIMITED), 5) == TenantLimits(None)


def test_whether_anything_is_said() -> None:
    assert not is_set(OwnLimits())
    assert not is_set(TenantOwn())
    assert is_set(OwnLimits(turns_in_flight=UNLIMITED))
    assert is_set(TenantOwn(sessions=1))
