"""Where moderation's lists, settings and audit trail stand in Postgres, and what every change of them has in common.

The tables belong to the migrations of the records, which share the database; only what is used of them is named here.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Text, Uuid, cast, column, insert, table, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from gateway.adapters.audit_facts import Facts
from gateway.domain.moderation.policy import OwnPolicy
from gateway.moderation_ports import Doer
from sessions.errors import RecordsUnavailable, ValueUnstorable
from sessions.tenant_wall import STEP, Side

LIMIT_S = 10.0
"""What takes longer is given up."""

lists = table(
    "phrase_lists",
    column("id", Uuid),
    column("tenant_id", Uuid),
    column("name", Text),
    column("scenario_id", Uuid),
    column("direction", Text),
    column("live_version"),
    column("latest_version"),
    column("created_by", Uuid),
    column("created_at"),
    column("archived_at"),
)
versions = table(
    "phrase_list_versions",
    column("list_id", Uuid),
    column("version"),
    column("tenant_id", Uuid),
    column("content", JSONB),
    column("phrase_count"),
    column("created_by", Uuid),
    column("created_at"),
)
settings = table(
    "moderation_settings",
    column("tenant_id", Uuid),
    column("content", JSONB),
    column("changed_by", Uuid),
    column("changed_at"),
)
audit = table(
    "moderation_audit",
    column("id"),
    column("tenant_id", Uuid),
    column("at"),
    column("actor", Uuid),
    column("action", Text),
    column("subject", Text),
    column("facts", JSONB),
)


@asynccontextmanager
async def transaction(engine: AsyncEngine, side: Side, limit_s: float) -> AsyncIterator[AsyncConnection]:
    """An `IntegrityError` comes out as it is: what it means, the statement knows."""
    try:
        async with asyncio.timeout(limit_s), engine.begin() as connection:
            await connection.execute(text(STEP), {"side": side})
            yield connection
    except IntegrityError:
        raise
    except (DataError, UnicodeEncodeError):
        raise ValueUnstorable from None  # the database's own words may be those of a phrase
    except (DBAPIError, PoolTimeout, TimeoutError) as error:
        raise RecordsUnavailable("the lists and settings of moderation cannot be asked for now") from error


async def note(connection: AsyncConnection, tenant: UUID, by: Doer, action: str, subject: str, facts: Facts) -> None:
    """One line of the audit trail."""
    await connection.execute(
        insert(audit).values(
            tenant_id=tenant, at=by.at, actor=by.account, action=action, subject=subject, facts=dict(facts)
        )
    )


def as_json(written: str) -> ColumnElement[Any]:
    """JSON that was made elsewhere, since all turns of the process wait while it is made here."""
    return cast(cast(written, Text), JSONB)


def policy_of(content: Mapping[str, Any]) -> OwnPolicy:
    """What other versions have written beside what is known here is left out."""
    return OwnPolicy(**{each.name: content.get(each.name) for each in fields(OwnPolicy)})
