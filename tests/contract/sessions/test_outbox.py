"""What the records promise about outbox, on dictionaries and on Postgres."""

from sessions.ports import OutboxEntry, Records
from tests.support.records_world import (
    HERE,
    NOON,
)


async def test_the_outbox_gives_back_the_oldest_first(records: Records) -> None:
    entries = [
        OutboxEntry(HERE.tenant, "turn.finished", f"turn {number}", {"n": number, "ok": True, "none": None}, NOON)
        for number in range(3)
    ]
    async with records.begin() as work:
        for entry in entries:
            await work.outbox.add(entry)
    async with records.begin() as work:
        assert list(await work.outbox.pending(limit=2)) == entries[:2]
        assert list(await work.outbox.pending(limit=9)) == entries
