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
from gateway.cli.review_wire import DecisionView, OutlineReport, ReviewInContext, ReviewView
from gateway.cli.wire import Page

_AT = "/v1/moderation"
_LISTS = f"{_AT}/lists"
_REVIEWS = f"{_AT}/reviews"


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
        return await self._client.every(f"{_AT}/audit", Page[AuditEntry], most=most)

    async def reviews(self, most: int, **asked: str | None) -> list[ReviewView]:
        return await self._client.every(_REVIEWS, Page[ReviewView], most=most, **asked)

    async def review(self, session: str, turn: int) -> ReviewInContext:
        return await self._client.read(_review(session, turn), ReviewInContext)

    async def decide(self, session: str, turn: int, body: dict[str, object]) -> DecisionView:
        return await self._client.write(f"{_review(session, turn)}/decision", DecisionView, body)

    async def outline(self, session: str) -> OutlineReport:
        return await self._client.read(f"/v1/sessions/{path_part(session)}/outline", OutlineReport)


def _review(session: str, turn: int) -> str:
    return f"{_REVIEWS}/{path_part(session)}/{turn}"


def _path(identity: str) -> str:
    return f"{_LISTS}/{path_part(identity)}"
