"""What moderates in a process, on a real Postgres and nothing else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.release import moderate
from gateway.moderation_settings import ModerationSettings
from gateway.settings import ModelSettings, Settings
from gateway.wiring.moderation import Moderating, moderating
from gateway.wiring.postgres import watched_database


@asynccontextmanager
async def moderating_process(
    database_url: str, *, refresh_s: float = 0.1, wait_s: float = 5.0
) -> AsyncIterator[Moderating]:
    """It has its own lines to Postgres, and knows nothing of others like it."""
    settings = Settings(
        redis_url="redis://127.0.0.1:1",
        database_url=database_url,
        model=ModelSettings(name="none", folder=Path()),
        moderation=ModerationSettings(refresh_s=refresh_s, wait_s=wait_s),
    )
    async with (
        watched_database(database_url, patience_s=1.0) as postgres,
        moderating(settings, postgres.engine) as made,
    ):
        yield made


def finds(book: PhraseBook, text: str) -> bool:
    return bool(moderate(text, book).findings)
