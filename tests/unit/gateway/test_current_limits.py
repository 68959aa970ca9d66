"""Which limits hold, whose they are, and when a change takes effect."""

from uuid import UUID, uuid4

import pytest
from typing_extensions import override

from gateway.adapters.memory_limit_rows import MemoryLimitRows
from gateway.current_limits import CurrentLimits
from gateway.domain.access import Role
from gateway.domain.limit_layers import UNLIMITED, Effective, OwnLimits, Source, TenantOwn
from gateway.domain.limits import AccountLimits, TenantLimits
from gateway.errors import AccountNotFound
from gateway.limit_ports import AccountOwn
from gateway.limit_settings import LimitSettings, RoleLimits
from sessions.errors import RecordsUnavailable
from tests.support.session_fakes import FakeClock

SETTINGS = LimitSettings(tenant_sessions=9, roles={Role.TRAINEE: RoleLimits(requests_per_minute=60, turns_in_flight=2)})


class Rows(MemoryLimitRows):
    away = False

    @override
    async def of_tenant(self, tenant: UUID) -> TenantOwn:
        if self.away:
            raise RecordsUnavailable("no database")
        return await super().of_tenant(tenant)


def world() -> tuple[Rows, FakeClock, CurrentLimits, tuple[UUID, UUID]]:
    rows, clock, trainee = Rows(), FakeClock(), (uuid4(), uuid4())
    rows.accounts[trainee] = AccountOwn(Role.TRAINEE)
    return rows, clock, CurrentLimits(settings=SETTINGS, store=rows, clock=clock.ticks), trainee


async def test_the_installation_s_settings_hold_where_nobody_has_set_anything() -> None:
    _, _, limits, _ = world()
    assert await limits.of_account(uuid4(), uuid4()) == AccountLimits(600, 120, None, None, 64)
    assert await limits.of_tenant(uuid4()) == TenantLimits(9)


async def test_role_tenant_and_account_override_in_turn() -> None:
    _, _, limits, trainee = world()
    assert await limits.of_account(*trainee) == AccountLimits(60, 120, None, None, 2)
    of_tenant = TenantOwn(OwnLimits(requests_per_minute=30, output_tokens_per_minute=5000), sessions=UNLIMITED)
    await limits.set_tenant(trainee[0], of_tenant)
    assert await limits.of_account(*trainee) == AccountLimits(30, 120, None, 5000, 2)
    assert await limits.of_tenant(trainee[0]) == TenantLimits(None)
    await limits.set_account(*trainee, OwnLimits(requests_per_minute=UNLIMITED))
    assert await limits.of_account(*trainee) == AccountLimits(None, 120, None, 5000, 2)
    table = await limits.account_table(*trainee)
    assert {name: found.source for name, found in table.items()} == {
        "requests_per_minute": Source.ACCOUNT,
        "request_burst": Source.INSTALLATION,
        "input_tokens_per_minute": Source.INSTALLATION,
        "output_tokens_per_minute": Source.TENANT,
        "turns_in_flight": Source.ROLE,
    }
    of_everybody = await limits.tenant_table(trainee[0])
    assert of_everybody["turns_in_flight"] == Effective(64, Source.INSTALLATION)
    assert of_everybody["sessions"] == Effective(None, Source.TENANT)


async def test_a_change_elsewhere_takes_effect_in_a_few_seconds_and_one_here_at_once() -> None:
    rows, clock, limits, trainee = world()
    await limits.of_account(*trainee)
    await rows.set_account(*trainee, OwnLimits(turns_in_flight=1))
    assert (await limits.of_account(*trainee)).turns_in_flight == 2
    clock.advance(5.1)
    assert (await limits.of_account(*trainee)).turns_in_flight == 1
    await limits.set_account(*trainee, OwnLimits(turns_in_flight=3))
    assert (await limits.of_account(*trainee)).turns_in_flight == 3


async def test_without_a_database_what_was_known_last_goes_on() -> None:
    rows, clock, limits, trainee = world()
    await limits.set_tenant(trainee[0], TenantOwn(sessions=4))
    assert await limits.of_tenant(trainee[0]) == TenantLimits(4)
    rows.away = True
    clock.advance(6)
    assert await limits.of_tenant(trainee[0]) == TenantLimits(4)
    assert await limits.of_tenant(uuid4()) == TenantLimits(9)
    with pytest.raises(RecordsUnavailable):
        await limits.tenant_table(trainee[0])


async def test_an_account_that_is_not_there_has_no_table() -> None:
    _, _, limits, trainee = world()
    with pytest.raises(AccountNotFound):
        await limits.account_table(trainee[0], uuid4())
    with pytest.raises(AccountNotFound):
        await limits.set_account(uuid4(), trainee[1], OwnLimits())
