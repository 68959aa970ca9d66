"""Moderation as a caller uses it; lists are named by their id or their name."""

from gateway.cli.api_client import ApiClient, path_part
from gateway.cli.failure import CommandFailed
from gateway.cli.moderation_wire import (
    AuditEntry,
    CheckView,
    DryRunView,
    ListContentView,
    PhraseListView,
    PhraseListWithVersions,
    SettingsView,
    VersionView,
)
from gateway.cli.wire import Page

_AT = "/v1/moderation"
_LISTS = f"{_AT}/lists"


class ModerationClient:
    def __init__(self, client: ApiClient) -> None:
        self._client = client

    async def lists(self) -> list[PhraseListView]:
        return await self._client.every(_LISTS, Page[PhraseListView])

    async def find(self, name: str) -> PhraseListView | None:
        return next((one for one in await self.lists() if name in (one.id, one.name)), None)

    async def known(self, name: str) -> PhraseListView:
        """Raises `CommandFailed` where there is none."""
        found = await self.find(name)
        if found is None:
            raise CommandFailed(f"there is no phrase list {name!r}", advice="see `drillyard moderation lists`")
        return found

    async def with_versions(self, name: str) -> PhraseListWithVersions:
        return await self._client.read(_path((await self.known(name)).id), PhraseListWithVersions)

    async def content(self, name: str, version: int | None) -> ListContentView:
        found = await self.known(name)
        return await self._client.read(f"{_path(found.id)}/versions/{version or found.latest_version}", ListContentView)

    async def create(self, body: dict[str, object]) -> PhraseListView:
        return await self._client.write(_LISTS, PhraseListView, body)

    async def add_version(self, of: PhraseListView, body: dict[str, object]) -> VersionView:
        return await self._client.write(f"{_path(of.id)}/versions", VersionView, body)

    async def go_live(self, of: PhraseListView, version: int | None) -> PhraseListView:
        return await self._client.put(f"{_path(of.id)}/live", PhraseListView, {"version": version})

    async def archive(self, of: PhraseListView) -> None:
        await self._client.remove(_path(of.id))

    async def check(self, body: dict[str, object]) -> CheckView:
        return await self._client.write(f"{_AT}/check", CheckView, body)

    async def dry_run(self, body: dict[str, object]) -> DryRunView:
        return await self._client.write(f"{_AT}/dry-run", DryRunView, body)

    async def settings(self) -> SettingsView:
        return await self._client.read(f"{_AT}/settings", SettingsView)

    async def set(self, body: dict[str, object]) -> SettingsView:
        return await self._client.put(f"{_AT}/settings", SettingsView, body)

    async def audit(self, most: int) -> list[AuditEntry]:
        found: list[AuditEntry] = []
        cursor: str | None = None
        while len(found) < most:
            limit = str(min(100, most - len(found)))
            page = await self._client.read(f"{_AT}/audit", Page[AuditEntry], limit=limit, cursor=cursor)
            found += page.items
            if (cursor := page.next_cursor) is None:
                break
        return found


def _path(identity: str) -> str:
    return f"{_LISTS}/{path_part(identity)}"
