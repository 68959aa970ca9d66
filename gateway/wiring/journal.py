"""What this process and the others know of each other's turns, through Redis."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.asyncio import Redis

from gateway.adapters.redis_journals import RedisJournals
from gateway.adapters.redis_mail import RedisMail
from gateway.followed_turns import FollowedTurns
from gateway.journal_settings import JournalSettings
from gateway.journal_writer import JournalWriter
from gateway.shared_turns import SharedTurns
from sessions.domain.session import SessionId
from sessions.use_cases.read_turn import ReadTurn


@asynccontextmanager
async def shared_turns(settings: JournalSettings, redis: Redis, read_turn: ReadTurn) -> AsyncIterator[SharedTurns]:
    # Another one after each start: a process that has come back does not run what the one before it ran.
    name = secrets.token_hex(8)
    journals = RedisJournals(client=redis, keep_s=settings.keep_s, lease_key=_lease_key)
    mail = RedisMail(client=redis, name=name)
    shared = SharedTurns(
        name=name,
        journals=journals,
        mail=mail,
        writer=JournalWriter(journals=journals, mail=mail, write_every_s=settings.write_every_s),
        followed=FollowedTurns(name=name, journals=journals, mail=mail, read_turn=read_turn),
    )
    async with shared.running():
        yield shared


def _lease_key(session: SessionId) -> str:
    """As the turn locks name it."""
    return f"dy:turn:{session}"
