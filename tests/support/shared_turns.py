"""What gateways in one process know of each other's turns, on memory."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from gateway.adapters.memory_journals import MemoryJournals, MemoryMail
from gateway.domain.journal import Letter
from gateway.followed_turns import FollowedTurns
from gateway.journal_writer import JournalWriter
from gateway.shared_turns import SharedTurns
from sessions.use_cases.read_turn import ReadTurn


@dataclass
class Neighbourhood:
    """The store and the letter boxes that all of them share."""

    journals: MemoryJournals = field(default_factory=MemoryJournals)
    boxes: dict[str, asyncio.Queue[Letter]] = field(default_factory=dict)

    def shared(self, name: str, read_turn: ReadTurn, *, check_s: float = 0.02) -> SharedTurns:
        """As a process of this name has it."""
        mail = MemoryMail(name=name, boxes=self.boxes)
        return SharedTurns(
            name=name,
            journals=self.journals,
            mail=mail,
            writer=JournalWriter(journals=self.journals, mail=mail, write_every_s=0.02),
            followed=FollowedTurns(name=name, journals=self.journals, mail=mail, read_turn=read_turn, check_s=check_s),
        )

    @asynccontextmanager
    async def living(self, name: str, read_turn: ReadTurn) -> AsyncIterator[SharedTurns]:
        shared = self.shared(name, read_turn)
        async with shared.running():
            yield shared
