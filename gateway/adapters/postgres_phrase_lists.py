"""Phrase lists in Postgres: one row per list, one per version of it, and the audit trail in the same transaction."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from sqlalchemy import Row, Select, Text, cast, insert, select, tuple_, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine
from sqlalchemy.sql.dml import ReturningUpdate
from typing_extensions import override

from gateway.adapters.audit_facts import of_archiving, of_going_live, of_new_list, of_new_version
from gateway.adapters.moderation_rows import LIMIT_S, as_json, lists, note, transaction, versions
from gateway.adapters.phrase_content import read, written
from gateway.domain.moderation.phrases import PhraseList
from gateway.errors import PhraseListExists, PhraseListNotFound
from gateway.moderation_ports import (
    Doer,
    KeptList,
    ListDirection,
    ListId,
    ListVersion,
    PhraseLists,
    Told,
    VersionSummary,
    nobody,
)
from sessions.domain.page import Cursor, Page
from sessions.errors import ScenarioNotFound
from sessions.tenant_wall import side_of


class PostgresPhraseLists(PhraseLists):
    def __init__(self, *, engine: AsyncEngine, told: Told = nobody, limit_s: float = LIMIT_S) -> None:
        self._engine = engine
        self._told = told
        self._limit_s = limit_s

    @override
    async def add(self, new: KeptList, first: PhraseList) -> KeptList:
        content, by = await asyncio.to_thread(written, first), Doer(new.created_by, new.created_at)
        try:
            async with self._change(new.tenant) as connection:
                await connection.execute(insert(lists).values(_row(new)))
                await self._write(connection, new, new.latest_version, content, len(first.phrases), by)
                await note(connection, new.tenant, by, "list_created", str(new.id), of_new_list(new, first))
        except IntegrityError as error:
            if "phrase_lists_scenario_fkey" in str(error.orig):
                raise ScenarioNotFound(f"there is no scenario {new.scenario}") from error
            if "phrase_lists_tenant_id_name_key" in str(error.orig):
                raise PhraseListExists from error
            raise
        return new

    @override
    async def add_version(self, tenant: UUID, found: ListId, phrases: PhraseList, by: Doer) -> ListVersion:
        content = await asyncio.to_thread(written, phrases)
        # The update locks the list's row until the end of the transaction: two writers take two numbers.
        numbering = _changing(tenant, found).where(lists.c.archived_at.is_(None))
        async with self._change(tenant) as connection:
            kept = await _one(connection, numbering.values(latest_version=lists.c.latest_version + 1))
            version = kept.latest_version
            await self._write(connection, kept, version, content, len(phrases.phrases), by)
            await note(connection, tenant, by, "version_added", str(found), of_new_version(version, phrases))
        said = PhraseList(kept.name, version, phrases.phrases, phrases.allowed)
        return ListVersion(found, version, said, by.account, by.at)

    @override
    async def amend(
        self, tenant: UUID, found: ListId, change: Callable[[PhraseList], PhraseList], by: Doer
    ) -> ListVersion:
        async with self._change(tenant) as connection:
            before = await _one(connection, _mine(tenant, found).where(lists.c.archived_at.is_(None)).with_for_update())
            row = (await connection.execute(_said(tenant, found, before.live_version or before.latest_version))).one()
            base = await _version(found, row)
            said = await asyncio.to_thread(change, base.phrases)
            if said == base.phrases:
                return base
            version = before.latest_version + 1
            live = None if before.live_version is None else version
            await connection.execute(_changing(tenant, found).values(latest_version=version, live_version=live))
            content = await asyncio.to_thread(written, said)
            await self._write(connection, before, version, content, len(said.phrases), by)
            await note(connection, tenant, by, "version_added", str(found), of_new_version(version, said))
            if live is not None:
                await note(connection, tenant, by, "list_live", str(found), of_going_live(version, before))
        return ListVersion(found, version, replace(said, version=version), by.account, by.at)

    @override
    async def go_live(self, tenant: UUID, found: ListId, version: int | None, by: Doer) -> KeptList:
        async with self._change(tenant) as connection:
            before = await _one(connection, _mine(tenant, found).where(lists.c.archived_at.is_(None)).with_for_update())
            if version == before.live_version:
                return before
            if version is not None and not 1 <= version <= before.latest_version:
                raise PhraseListNotFound
            after = await _one(connection, _changing(tenant, found).values(live_version=version))
            await note(connection, tenant, by, "list_live", str(found), of_going_live(version, before))
        return after

    @override
    async def archive(self, tenant: UUID, found: ListId, by: Doer) -> KeptList:
        async with self._change(tenant) as connection:
            before = await _one(connection, _mine(tenant, found).with_for_update())
            if before.archived_at is not None:
                return before
            ending = _changing(tenant, found).values(live_version=None, archived_at=by.at)
            after = await _one(connection, ending)
            await note(connection, tenant, by, "list_archived", str(found), of_archiving(before))
        return after

    @override
    async def get(self, tenant: UUID, found: ListId) -> KeptList | None:
        async with self._look(tenant) as connection:
            row = (await connection.execute(_mine(tenant, found))).one_or_none()
        return None if row is None else _list(row)

    @override
    async def version(self, tenant: UUID, found: ListId, version: int) -> ListVersion | None:
        async with self._look(tenant) as connection:
            row = (await connection.execute(_said(tenant, found, version))).one_or_none()
        return None if row is None else await _version(found, row)

    @override
    async def versions(self, tenant: UUID, found: ListId) -> Sequence[VersionSummary]:
        wanted = select(*_SUMMARY).where(versions.c.tenant_id == tenant, versions.c.list_id == found)
        async with self._look(tenant) as connection:
            rows = await connection.execute(wanted.order_by(versions.c.version.desc()))
        return [VersionSummary(row.version, row.phrase_count, row.created_by, row.created_at) for row in rows]

    @override
    async def page(self, tenant: UUID, *, limit: int, after: Cursor | None = None) -> Page[KeptList]:
        wanted = select(lists).where(lists.c.tenant_id == tenant)
        if after is not None:
            wanted = wanted.where(tuple_(lists.c.created_at, lists.c.id) < tuple_(after.at, after.id))
        ordered = wanted.order_by(lists.c.created_at.desc(), lists.c.id.desc()).limit(limit + 1)
        async with self._look(tenant) as connection:
            found = [_list(row) for row in await connection.execute(ordered)]
        shown = tuple(found[:limit])
        return Page(shown, Cursor(shown[-1].created_at, shown[-1].id) if len(found) > limit else None)

    @asynccontextmanager
    async def _look(self, tenant: UUID) -> AsyncIterator[AsyncConnection]:
        async with transaction(self._engine, side_of(tenant), self._limit_s) as connection:
            yield connection

    @asynccontextmanager
    async def _change(self, tenant: UUID) -> AsyncIterator[AsyncConnection]:
        try:
            async with transaction(self._engine, side_of(tenant), self._limit_s) as connection:
                yield connection
        finally:  # a commit that was cut off may have taken effect
            await self._told(tenant)

    async def _write(
        self, connection: AsyncConnection, of: KeptList, version: int, content: str, count: int, by: Doer
    ) -> None:
        await connection.execute(
            insert(versions).values(
                list_id=of.id,
                version=version,
                tenant_id=of.tenant,
                content=as_json(content),
                phrase_count=count,
                created_by=by.account,
                created_at=by.at,
            )
        )


_SUMMARY = (versions.c.version, versions.c.phrase_count, versions.c.created_by, versions.c.created_at)


def _mine(tenant: UUID, found: ListId) -> Select[Any]:
    return select(lists).where(lists.c.tenant_id == tenant, lists.c.id == found)


def _said(tenant: UUID, found: ListId, version: int) -> Select[Any]:
    return (
        select(lists.c.name, cast(versions.c.content, Text).label("content"), *_SUMMARY)
        .join_from(versions, lists, lists.c.id == versions.c.list_id)
        .where(versions.c.tenant_id == tenant, versions.c.list_id == found, versions.c.version == version)
    )


async def _version(found: ListId, row: Row[Any]) -> ListVersion:
    said = await asyncio.to_thread(read, row.content, name=row.name, version=row.version)
    return ListVersion(found, row.version, said, row.created_by, row.created_at)


def _changing(tenant: UUID, found: ListId) -> ReturningUpdate[Any]:
    return update(lists).where(lists.c.tenant_id == tenant, lists.c.id == found).returning(*lists.c)


async def _one(connection: AsyncConnection, statement: Select[Any] | ReturningUpdate[Any]) -> KeptList:
    row = (await connection.execute(statement)).one_or_none()
    if row is None:
        raise PhraseListNotFound
    return _list(row)


def _row(of: KeptList) -> dict[str, object]:
    return {
        "id": of.id,
        "tenant_id": of.tenant,
        "name": of.name,
        "scenario_id": of.scenario,
        "direction": of.direction,
        "live_version": of.live_version,
        "latest_version": of.latest_version,
        "created_by": of.created_by,
        "created_at": of.created_at,
        "archived_at": of.archived_at,
    }


def _list(row: Row[Any]) -> KeptList:
    return KeptList(
        id=row.id,
        tenant=row.tenant_id,
        name=row.name,
        scenario=row.scenario_id,
        direction=ListDirection(row.direction),
        live_version=row.live_version,
        latest_version=row.latest_version,
        created_by=row.created_by,
        created_at=row.created_at,
        archived_at=row.archived_at,
    )
