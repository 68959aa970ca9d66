"""Scenarios in Postgres: one row per scenario, one per version of it."""

from datetime import datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import Row, Select, insert, select, update
from typing_extensions import override

from sessions.adapters.postgres.paging import page, paged
from sessions.adapters.postgres.tables import scenario_versions, scenarios
from sessions.adapters.postgres.transaction import Transaction
from sessions.domain.page import Cursor, Page
from sessions.domain.scenario import Scenario, ScenarioContent, ScenarioId
from sessions.domain.viewer import AccountId, TenantId
from sessions.errors import ScenarioNotFound
from sessions.ports import Scenarios

_CONTENT = TypeAdapter(ScenarioContent)


class PostgresScenarios(Scenarios):
    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    @override
    async def add(self, scenario: Scenario) -> None:
        await self._transaction.of(scenario.tenant).changed(
            insert(scenarios).values(
                id=scenario.id,
                tenant_id=scenario.tenant,
                latest_version=scenario.version,
                created_at=scenario.created_at,
            )
        )
        await self._write_version(scenario)

    @override
    async def add_version(
        self, tenant: TenantId, scenario: ScenarioId, content: ScenarioContent, *, by: AccountId, at: datetime
    ) -> Scenario:
        # The update locks the scenario's row until the end of the transaction: two writers take two numbers.
        row = await self._transaction.of(tenant).one(
            update(scenarios)
            .where(scenarios.c.tenant_id == tenant, scenarios.c.id == scenario)
            .values(latest_version=scenarios.c.latest_version + 1)
            .returning(scenarios.c.latest_version)
        )
        if row is None:
            raise ScenarioNotFound(f"there is no scenario {scenario}")
        version = row.latest_version
        written = Scenario(scenario, tenant, version, version, content, created_by=by, created_at=at)
        await self._write_version(written)
        return written

    @override
    async def get(self, tenant: TenantId, scenario: ScenarioId, version: int | None = None) -> Scenario | None:
        wanted = scenarios.c.latest_version if version is None else version
        row = await self._transaction.of(tenant).one(
            _versions().where(
                scenarios.c.tenant_id == tenant, scenarios.c.id == scenario, scenario_versions.c.version == wanted
            )
        )
        return None if row is None else _scenario(row)

    @override
    async def list(self, tenant: TenantId, *, limit: int, after: Cursor | None = None) -> Page[Scenario]:
        latest = _versions().where(
            scenarios.c.tenant_id == tenant, scenario_versions.c.version == scenarios.c.latest_version
        )
        rows = await self._transaction.of(tenant).all(
            paged(latest, scenarios.c.created_at, scenarios.c.id, limit=limit, after=after)
        )
        return page(rows, limit, item=_scenario, place="begun_at")

    async def _write_version(self, scenario: Scenario) -> None:
        await self._transaction.of(scenario.tenant).changed(
            insert(scenario_versions).values(
                tenant_id=scenario.tenant,
                scenario_id=scenario.id,
                version=scenario.version,
                content=_CONTENT.dump_python(scenario.content, mode="json"),
                created_by=scenario.created_by,
                created_at=scenario.created_at,
            )
        )


def _versions() -> Select[Any]:
    return select(
        scenarios.c.id,
        scenarios.c.latest_version,
        scenarios.c.created_at.label("begun_at"),
        scenario_versions,
    ).join_from(
        scenarios,
        scenario_versions,
        (scenario_versions.c.tenant_id == scenarios.c.tenant_id) & (scenario_versions.c.scenario_id == scenarios.c.id),
    )


def _scenario(row: Row[Any]) -> Scenario:
    return Scenario(
        id=row.id,
        tenant=row.tenant_id,
        version=row.version,
        latest_version=row.latest_version,
        content=_CONTENT.validate_python(row.content),
        created_by=row.created_by,
        created_at=row.created_at,
    )
