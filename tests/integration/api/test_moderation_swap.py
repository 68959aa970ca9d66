"""Rules change while twenty replies stream: each turn keeps those it began with, and the next ones meet the new."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.limit_settings import LimitSettings
from tests.integration.api.event_reader import Event, events_of, text_of
from tests.integration.api.house import STREAM, House, until
from tests.integration.api.house import house as running

LISTS = "/v1/moderation/lists"
STREAMS = 20


@pytest.fixture
async def house() -> AsyncIterator[House]:
    async with running(limits=LimitSettings(requests_per_minute=100_000, request_burst=100_000)) as opened:
        yield opened


async def turn(house: House, session: str) -> list[Event]:
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"}, headers=STREAM)
    assert answer.status_code == 200, answer.text
    return events_of(answer.content)


async def stopped_by(house: House, session: str) -> tuple[int, str]:
    """The version whose rule stopped the turn of this session, and what of its reply is on record."""
    stored = (await house.here.instructor.get(f"/v1/sessions/{session}/turns/1")).json()
    (finding,) = stored["moderation"]["findings"]
    return finding["list_version"], stored["reply"]


async def test_running_turns_keep_their_rules_and_the_next_ones_meet_the_new(house: House) -> None:
    staff = house.here.instructor
    body = {"name": "words", "phrases": [{"text": "old word"}], "live": True}
    found = (await staff.post(LISTS, json=body)).json()["id"]
    await staff.post(f"{LISTS}/{found}/versions", json={"phrases": [{"text": "new word"}]})
    sessions = [await house.session() for _ in range(2 * STREAMS)]
    gate = asyncio.Event()
    house.tutor.script = ("Well, ", gate, "the old ", "word, the", " new word", ".")
    async with asyncio.TaskGroup() as group:
        before = [group.create_task(turn(house, session)) for session in sessions[:STREAMS]]
        await until(lambda: house.tutor.open_replies == STREAMS)
        answer = await staff.put(f"{LISTS}/{found}/live", json={"version": 2})
        assert answer.status_code == 200, answer.text
        after = [group.create_task(turn(house, session)) for session in sessions[STREAMS:]]
        await until(lambda: house.tutor.open_replies == 2 * STREAMS)
        gate.set()
    for tasks, begun_by, version, reply in (
        (before, sessions[:STREAMS], 1, "Well, the "),
        (after, sessions[STREAMS:], 2, "Well, the old word, the "),
    ):
        for task, session in zip(tasks, begun_by, strict=True):
            events = task.result()
            assert (events[-1].name, text_of(events)) == ("blocked", reply)
            assert await stopped_by(house, session) == (version, reply)
