"""The knowledge of a tenant as a caller uses it; bases and documents are named by their id or their name."""

from collections.abc import Sequence

from gateway.cli.api_client import ApiClient, path_part
from gateway.cli.failure import CommandFailed
from gateway.cli.knowledge_wire import DocumentView, KnowledgeBaseView
from gateway.cli.wire import Page

BASES = "/v1/knowledge-bases"


class KnowledgeClient:
    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def create(self, name: str, guidance: str) -> KnowledgeBaseView:
        return await self._client.write(BASES, KnowledgeBaseView, {"name": name, "guidance": guidance})

    async def bases(self) -> list[KnowledgeBaseView]:
        return await self._client.every(BASES, Page[KnowledgeBaseView])

    async def base(self, named: str) -> KnowledgeBaseView:
        """Raises `CommandFailed` where there is none."""
        for base in await self.bases():
            if named in (base.id, base.name):
                return base
        raise CommandFailed(f"there is no knowledge base {named!r}", advice="see `drillyard knowledge list`")

    async def documents(self, base: KnowledgeBaseView) -> list[DocumentView]:
        return await self._client.every(_documents(base), Page[DocumentView])

    async def document(self, base: KnowledgeBaseView, named: str) -> DocumentView:
        """Raises `CommandFailed` where there is none."""
        return (await self._named(base, [named]))[0]

    async def put(self, base: KnowledgeBaseView, name: str, media_type: str, raw: bytes) -> DocumentView:
        return await self._client.upload(_documents(base), DocumentView, raw, media_type=media_type, name=name)

    async def remove_documents(self, base: KnowledgeBaseView, named: Sequence[str]) -> list[DocumentView]:
        """All of them or, where one is not there, none; raises `CommandFailed` then."""
        gone = list({document.id: document for document in await self._named(base, named)}.values())
        for document in gone:
            await self._client.remove(f"{_documents(base)}/{path_part(document.id)}")
        return gone

    async def remove_base(self, base: KnowledgeBaseView) -> None:
        await self._client.remove(f"{BASES}/{path_part(base.id)}")

    async def _named(self, base: KnowledgeBaseView, named: Sequence[str]) -> list[DocumentView]:
        there = {name: document for document in await self.documents(base) for name in (document.id, document.name)}
        missing = [name for name in named if name not in there]
        if missing:
            raise CommandFailed(
                f"{base.name} has no document {missing[0]!r}", advice=f"see `drillyard knowledge list {base.name}`"
            )
        return [there[name] for name in named]


def _documents(base: KnowledgeBaseView) -> str:
    return f"{BASES}/{path_part(base.id)}/documents"
