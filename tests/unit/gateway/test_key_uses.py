from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from typing_extensions import override

from gateway.access_ports import KeyLedger
from gateway.domain.access import KeyId
from gateway.errors import KeysUnavailable
from gateway.key_uses import KeyUses
from gateway.wiring.background import background
from tests.support.eventually import eventually

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
A, B = KeyId("a"), KeyId("b")


@dataclass
class Ledger(KeyLedger):
    written: list[set[KeyId]] = field(default_factory=list)
    away: bool = False

    @override
    async def used(self, keys: Collection[KeyId], *, at: datetime) -> None:
        if self.away:
            raise KeysUnavailable("no database")
        self.written.append(set(keys))


class Clock:
    now = NOON

    def __call__(self) -> datetime:
        return self.now


async def test_uses_are_gathered_and_written_at_most_once_a_minute_for_each_key() -> None:
    ledger, clock = Ledger(), Clock()
    uses = KeyUses(ledger=ledger, clock=clock, gather_s=0.01)
    async with background(uses.keep()):
        for key in (A, B, A):
            uses.saw(key)
        await eventually(lambda: ledger.written == [{A, B}])
        clock.now += timedelta(seconds=59)
        uses.saw(A)
        clock.now += timedelta(seconds=2)
        uses.saw(B)
        await eventually(lambda: ledger.written == [{A, B}, {B}])


async def test_uses_that_cannot_be_written_are_lost_and_counted() -> None:
    ledger, clock = Ledger(away=True), Clock()
    uses = KeyUses(ledger=ledger, clock=clock, gather_s=0.01)
    async with background(uses.keep()):
        uses.saw(A)
        uses.saw(B)
        await eventually(lambda: uses.lost == 2)
        ledger.away = False
        clock.now += timedelta(minutes=2)
        uses.saw(A)
        await eventually(lambda: ledger.written == [{A}])
