"""The tables of knowledge; see `tables`."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)

from sessions.adapters.postgres.tables import MOMENT, metadata

knowledge_bases = Table(
    "knowledge_bases",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("name", Text, nullable=False),
    Column("guidance", Text, nullable=False),
    Column("version", Integer, nullable=False),
    Column("document_count", Integer, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    PrimaryKeyConstraint("id", name="knowledge_bases_pkey"),
    UniqueConstraint("tenant_id", "id", name="knowledge_bases_tenant_id_id_key"),
    UniqueConstraint("tenant_id", "name", name="knowledge_bases_tenant_id_name_key"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="knowledge_bases_tenant_fkey"),
    ForeignKeyConstraint(
        ["tenant_id", "created_by"], ["accounts.tenant_id", "accounts.id"], name="knowledge_bases_author_fkey"
    ),
    Index("knowledge_bases_by_age", "tenant_id", "created_at", "id"),
)

knowledge_documents = Table(
    "knowledge_documents",
    metadata,
    Column("id", Uuid, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("base_id", Uuid, nullable=False),
    Column("name", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("created_by", Uuid, nullable=False),
    Column("created_at", MOMENT, nullable=False),
    Column("flagged_chunks", Integer, nullable=False, server_default=text("0")),
    PrimaryKeyConstraint("id", name="knowledge_documents_pkey"),
    UniqueConstraint("tenant_id", "base_id", "id", name="knowledge_documents_tenant_id_base_id_id_key"),
    UniqueConstraint("base_id", "name", name="knowledge_documents_base_id_name_key"),
    ForeignKeyConstraint(
        ["tenant_id", "base_id"],
        ["knowledge_bases.tenant_id", "knowledge_bases.id"],
        name="knowledge_documents_base_fkey",
        ondelete="CASCADE",
    ),
    ForeignKeyConstraint(
        ["tenant_id", "created_by"], ["accounts.tenant_id", "accounts.id"], name="knowledge_documents_author_fkey"
    ),
    Index("knowledge_documents_by_age", "tenant_id", "base_id", "created_at", "id"),
)

knowledge_chunks = Table(
    "knowledge_chunks",
    metadata,
    Column("document_id", Uuid, nullable=False),
    Column("number", Integer, nullable=False),
    Column("tenant_id", Uuid, nullable=False),
    Column("base_id", Uuid, nullable=False),
    Column("heading", Text, nullable=False),
    Column("text", Text, nullable=False),
    Column("tokens", Integer, nullable=False),
    Column("embedding_model", Text),
    Column("embedding", LargeBinary),
    PrimaryKeyConstraint("document_id", "number", name="knowledge_chunks_pkey"),
    ForeignKeyConstraint(
        ["tenant_id", "base_id", "document_id"],
        ["knowledge_documents.tenant_id", "knowledge_documents.base_id", "knowledge_documents.id"],
        name="knowledge_chunks_document_fkey",
        ondelete="CASCADE",
    ),
    Index("knowledge_chunks_by_base", "tenant_id", "base_id"),
)
