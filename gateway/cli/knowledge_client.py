"""The knowledge of a tenant as a caller uses it; bases and documents are named by their id or their name."""

from collections.abc import Sequence
from urllib.parse import quote

from gateway.cli.api_client import PAGE, ApiClient
from gateway.cli.failure import CommandFailed
from gateway.cli.knowledge_wire import DocumentPage, DocumentView, KnowledgeBasePage, KnowledgeBaseView

BASES = "/v1/knowledge-bases"


class KnowledgeClient:
    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def create(self, name: str, guidance: str) -> KnowledgeBaseView:
        return await self._client.write(BASES, KnowledgeBaseView, {"name": name, "guidance": guidance})

    async def bases(self) -> list[KnowledgeBaseView]:
        found: list[KnowledgeBaseView] = []
        cursor = None
        while True:
            page = await self._client.read(BASES, KnowledgeBasePage, limit=str(PAGE), cursor=cursor)
            found += page.items
            if (cursor := page.next_cursor) is None:
                return found

    async def base(self, named: str) -> KnowledgeBaseView:
        """Raises `CommandFailed` where there is none."""
        for base in await self.bases():
            if named in (base.id, base.name):
                return base
        raise CommandFailed(f"there is no knowledge base {named!r}", advice="see `drillyard knowledge list`")

    async def documents(self, base: KnowledgeBaseView) -> list[DocumentView]:
        found: list[DocumentView] = []
        cursor = None
        while True:
            page = await self._client.read(_documents(base), DocumentPage, limit=str(PAGE), cursor=cursor)
            found += page.items
            if (cursor := page.next_cursor) is None:
                return found

    async def put(self, base: KnowledgeBaseView, name: str, media_type: str, raw: bytes) -> DocumentView:
        return await self._client.upload(_documents(base), DocumentView, raw, media_type=media_type, name=name)

    async def remove_documents(self, base: KnowledgeBaseView, named: Sequence[str]) -> list[DocumentView]:
        """All of them or, where one is not there, none; raises `CommandFailed` then."""
        there = {name: document for document in await self.documents(base) for name in (document.id, document.name)}
        missing = [name for name in named if name not in there]
        if missing:
            raise CommandFailed(
                f"{base.name} has no document {missing[0]!r}", advice=f"see `drillyard knowledge list {base.name}`"
            )
        gone = list({there[name].id: there[name] for name in named}.values())
        for document in gone:
            await self._client.remove(f"{_documents(base)}/{_part(document.id)}")
        return gone

    async def remove_base(self, base: KnowledgeBaseView) -> None:
        await self._client.remove(f"{BASES}/{_part(base.id)}")


def _documents(base: KnowledgeBaseView) -> str:
    return f"{BASES}/{_part(base.id)}/documents"


def _part(text: str) -> str:
    return quote(text, safe="")
