"""Knowledge bases, their documents and the chunks those are cut into.

Foreign keys carry the tenant and the base, so that no chunk can come to stand in another one.
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    create table knowledge_bases (
        id uuid not null,
        tenant_id uuid not null,
        name text not null,
        guidance text not null,
        version integer not null,
        document_count integer not null,
        chunk_count integer not null,
        created_by uuid not null,
        created_at timestamptz not null,
        constraint knowledge_bases_pkey primary key (id),
        constraint knowledge_bases_tenant_id_id_key unique (tenant_id, id),
        constraint knowledge_bases_tenant_id_name_key unique (tenant_id, name),
        constraint knowledge_bases_tenant_fkey foreign key (tenant_id) references tenants (id),
        constraint knowledge_bases_author_fkey foreign key (tenant_id, created_by) references accounts (tenant_id, id),
        constraint knowledge_bases_version_check check (version >= 1),
        constraint knowledge_bases_counts_check check (document_count >= 0 and chunk_count >= document_count)
    )
    """,
    "create index knowledge_bases_by_age on knowledge_bases (tenant_id, created_at, id)",
    """
    create table knowledge_documents (
        id uuid not null,
        tenant_id uuid not null,
        base_id uuid not null,
        name text not null,
        media_type text not null,
        sha256 text not null,
        size_bytes bigint not null,
        tokens integer not null,
        chunk_count integer not null,
        created_by uuid not null,
        created_at timestamptz not null,
        constraint knowledge_documents_pkey primary key (id),
        constraint knowledge_documents_tenant_id_base_id_id_key unique (tenant_id, base_id, id),
        constraint knowledge_documents_base_id_name_key unique (base_id, name),
        constraint knowledge_documents_base_fkey
            foreign key (tenant_id, base_id) references knowledge_bases (tenant_id, id) on delete cascade,
        constraint knowledge_documents_author_fkey
            foreign key (tenant_id, created_by) references accounts (tenant_id, id),
        constraint knowledge_documents_chunk_count_check check (chunk_count >= 1)
    )
    """,
    "create index knowledge_documents_by_age on knowledge_documents (tenant_id, base_id, created_at, id)",
    """
    create table knowledge_chunks (
        document_id uuid not null,
        number integer not null,
        tenant_id uuid not null,
        base_id uuid not null,
        heading text not null,
        text text not null,
        tokens integer not null,
        embedding_model text,
        embedding bytea,
        constraint knowledge_chunks_pkey primary key (document_id, number),
        constraint knowledge_chunks_document_fkey
            foreign key (tenant_id, base_id, document_id)
            references knowledge_documents (tenant_id, base_id, id) on delete cascade,
        constraint knowledge_chunks_number_check check (number >= 1),
        constraint knowledge_chunks_embedding_check check ((embedding is null) = (embedding_model is null))
    )
    """,
    "create index knowledge_chunks_by_base on knowledge_chunks (tenant_id, base_id)",
)


def upgrade() -> None:
    for statement in STATEMENTS:
        op.execute(statement)
