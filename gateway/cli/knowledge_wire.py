"""What the public API answers about knowledge; members that are not named here are left alone."""

from gateway.cli.wire import Answer


class KnowledgeBaseView(Answer):
    id: str
    name: str
    version: int
    document_count: int
    chunk_count: int


class DocumentView(Answer):
    id: str
    name: str
    media_type: str
    size_bytes: int
    tokens: int
    chunk_count: int
