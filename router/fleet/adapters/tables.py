"""The controller's tables, as its statements see them; the migrations of `sessions` make them, and a test compares."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Identity,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB

metadata = MetaData()

_MOMENT = DateTime(timezone=True)

replicas = Table(
    "fleet_replicas",
    metadata,
    Column("id", Text, nullable=False),
    Column("pool", Text, nullable=False),
    Column("reached", JSONB, nullable=False),
    Column("url", Text, nullable=False),
    Column("failure", Text, nullable=False),
    Column("report", JSONB),
    PrimaryKeyConstraint("pool", "id", name="fleet_replicas_pkey"),
)

starts = Table(
    "fleet_starts",
    metadata,
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("pool", Text, nullable=False),
    Column("began_at", _MOMENT, nullable=False),
    Column("ended_at", _MOMENT, nullable=False),
    Column("went_warm", Boolean, nullable=False),
    PrimaryKeyConstraint("id", name="fleet_starts_pkey"),
    Index("fleet_starts_by_pool", "pool", "id"),
)

floors = Table(
    "fleet_floors",
    metadata,
    Column("pool", Text, nullable=False),
    Column("replicas", Integer, nullable=False),
    Column("until", _MOMENT),
    Column("set_by", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("set_at", _MOMENT, nullable=False),
    PrimaryKeyConstraint("pool", name="fleet_floors_pkey"),
)

rounds = Table(
    "fleet_rounds",
    metadata,
    Column("pool", Text, nullable=False),
    Column("at", _MOMENT, nullable=False),
    Column("leader", Text, nullable=False),
    Column("wanted", Integer),
    Column("ready", Integer, nullable=False),
    Column("present", Integer, nullable=False),
    Column("wait", Text, nullable=False),
    Column("short", Text, nullable=False),
    Column("short_at", _MOMENT),
    PrimaryKeyConstraint("pool", name="fleet_rounds_pkey"),
)

canaries = Table(
    "fleet_canaries",
    metadata,
    Column("pool", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("answers", JSONB, nullable=False),
    Column("first_seen_at", _MOMENT, nullable=False),
    PrimaryKeyConstraint("pool", "fingerprint", name="fleet_canaries_pkey"),
)
