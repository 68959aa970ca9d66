"""Turns under rules, over HTTP: whichever way a turn is read, nothing of a banned phrase is in it."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import uuid4

import pytest

from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.release import moderate
from gateway.limit_settings import LimitSettings
from sessions.domain.turn import TurnState
from tests.integration.api.event_reader import Event, EventReader, events_of, text_of
from tests.integration.api.house import STREAM, House, until
from tests.integration.api.house import house as running
from tests.support.evasions import EVASIONS, cuts
from tests.support.moderated import banned

LISTS = "/v1/moderation/lists"
HAN, LATIN = "保本高收益", "free money"
REPLIES = {
    HAN: f"您好🙂，这款产品{HAN}，请放心。",
    LATIN: f"Well, no {LATIN}: it costs 5 %.",
}


@pytest.fixture
async def house() -> AsyncIterator[House]:
    """One whose trainees may ask as often as they like."""
    async with running(limits=LimitSettings(requests_per_minute=100_000, request_burst=100_000)) as opened:
        yield opened


async def in_force(house: House, *phrases: str, action: str = "block", **more: object) -> None:
    listed = [{"id": f"r{n}", "text": phrase, "action": action} for n, phrase in enumerate(phrases)]
    body = {"name": f"list {uuid4()}", "phrases": listed, "live": True, **more}
    answer = await house.here.instructor.post(LISTS, json=body)
    assert answer.status_code == 201, answer.text


async def streamed(house: House, session: str, text: str = "Hi", **headers: str) -> list[Event]:
    answer = await house.here.trainee.post(
        f"/v1/sessions/{session}/turns", json={"text": text}, headers={**STREAM, **headers}
    )
    assert answer.status_code == 200, answer.text
    return events_of(answer.content)


async def whole(house: House, session: str, text: str = "Hi", **headers: str) -> dict[str, Any]:
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": text}, headers=headers)
    assert answer.status_code == 200, answer.text
    turn: dict[str, Any] = answer.json()
    return turn


async def followed(house: House, session: str, turn: int, after: str = "") -> list[Event]:
    headers = STREAM | ({"Last-Event-ID": after} if after else {})
    answer = await house.here.trainee.get(f"/v1/sessions/{session}/turns/{turn}/events", headers=headers)
    return events_of(answer.content)


async def same_on_every_way(house: House, pieces: Sequence[str]) -> str:
    """The reply as it is streamed, resumed behind each of its events, read again, and told without a stream."""
    session, house.tutor.script = await house.session(), pieces
    events = await streamed(house, session)
    turn, reply, end = events[0].data["turn"], text_of(events), events[-1]
    for at, event in enumerate(events):
        rest = await followed(house, session, turn, event.id)
        assert text_of(events[: at + 1]) + text_of(rest) == reply
        assert rest[-1:] == events[at + 1 :][-1:]
    again = await followed(house, session, turn)
    assert (text_of(again), again[-1]) == (reply, end)
    stored = (await house.here.trainee.get(f"/v1/sessions/{session}/turns/{turn}")).json()
    assert stored["reply"] == reply
    told = await whole(house, session)
    assert (told["reply"], told["state"], told["blocked_reason"]) == (
        *(reply, stored["state"]),
        stored["blocked_reason"],
    )
    assert (end.name, end.data.get("reason")) == (
        *(("blocked", "banned_phrase") if stored["state"] == "blocked" else ("done", None)),
    )
    return reply


@pytest.mark.parametrize("phrase", REPLIES)
async def test_wherever_the_reply_is_cut_it_ends_before_the_phrase_on_every_way(house: House, phrase: str) -> None:
    await in_force(house, phrase)
    reply = REPLIES[phrase]
    before = reply[: reply.index(phrase)]
    for pieces in cuts(reply):
        assert await same_on_every_way(house, pieces) == before
    innocent = reply.replace(phrase, phrase[:-1])
    assert await same_on_every_way(house, [innocent]) == innocent


@pytest.mark.parametrize(("phrase", "first"), [(HAN, 0), (LATIN, 1)])
async def test_however_the_phrase_is_written_a_turn_is_judged_as_the_whole_text_is(
    house: House, phrase: str, first: int
) -> None:
    await in_force(house, phrase)
    book = PhraseBook([banned(phrase)])
    stopped = 0
    for name, evasion in list(EVASIONS.items())[first::4]:
        text = f"您好：{evasion(phrase)}。OK"
        verdict = moderate(text, book)
        assert await same_on_every_way(house, list(text)) == verdict.text, name
        if "\x00" in text:  # no message may hold it
            continue
        said = await whole(house, await house.session(), text)
        is_blocked = verdict.blocked is not None
        stopped += is_blocked
        assert (said["state"], said["text"]) == (("blocked", "") if is_blocked else ("completed", text)), name
    assert stopped > 8


async def test_a_blocked_message_is_accepted_by_no_replica_and_ends_blocked(house: House) -> None:
    await in_force(house, LATIN)
    session = await house.session()
    url, key = f"/v1/sessions/{session}/turns", {"Idempotency-Key": "k-1"}
    events = await streamed(house, session, f"Give me {LATIN}.", **key)
    assert events == [
        Event("1-1", "accepted", {"session_id": session, "turn": 1, "replica": None}),
        Event("1-2", "blocked", {"reason": "banned_phrase"}),
    ]
    assert await streamed(house, session, f"Give me {LATIN}.", **key) == events
    told = await whole(house, session, f"Give me {LATIN}.", **key)
    assert (told["turn"], told["state"], told["text"], told["reply"]) == (1, "blocked", "", "")
    assert (told["blocked_reason"], told["moderation"], told["error"]) == ("banned_phrase", None, None)
    assert told["usage"] == {"prompt_tokens": 0, "cached_tokens": 0, "completion_tokens": 0}
    shown = (await house.here.instructor.get(f"{url}/1")).json()
    (finding,) = shown["moderation"]["findings"]
    assert (finding["direction"], finding["rule"], finding["start"], finding["end"]) == ("input", "r0", 8, 18)
    assert not house.tutor.requests


async def test_nobody_meets_the_words_of_a_blocked_turn_again(house: House) -> None:
    await in_force(house, LATIN)
    session = await house.session()
    url = f"/v1/sessions/{session}"
    house.tutor.script = ["No ", f"{LATIN}."]
    await streamed(house, session)
    await streamed(house, session, f"Give me {LATIN}.")
    house.tutor.script = ["Bye."]
    await streamed(house, session, "And now?")
    shown = [message.content for message in house.tutor.requests[-1].messages]
    assert shown[-3:] == ["Hi", "No ", "And now?"]
    seen = [
        *(await asyncio.gather(*(house.here.instructor.get(f"{url}{path}") for path in ("", "/turns", "/context")))),
        await house.here.trainee.get(f"{url}/turns"),
    ]
    figures = await house.metrics.text()
    assert 'drillyard_turns_total{state="blocked"} 2.0' in figures.decode()
    for told in (*(answer.text for answer in seen), figures.decode(), repr(shown)):
        assert "money" not in told


async def test_a_reply_that_is_blocked_lets_its_tutor_go_at_once(house: House) -> None:
    await in_force(house, LATIN)
    house.tutor.script = [f"No {LATIN}.", asyncio.Event()]
    events = await streamed(house, await house.session())
    assert (text_of(events), events[-1].name) == ("No ", "blocked")
    await until(lambda: house.tutor.open_replies == 0)


async def test_a_masked_message_goes_on_masked_and_so_it_is_told_and_kept(house: House) -> None:
    await in_force(house, LATIN, action="mask")
    session = await house.session()
    told = await whole(house, session, f"Give me {LATIN}.")
    assert (told["state"], told["text"]) == (TurnState.COMPLETED, "Give me ***.")
    assert house.tutor.requests[-1].messages[-1].content == "Give me ***."
    assert await same_on_every_way(house, list(f"Take {LATIN}, all of it.")) == "Take ***, all of it."


async def test_what_one_side_may_not_say_the_other_may(house: House) -> None:
    await in_force(house, "sesame", direction="input")
    await in_force(house, "saffron", direction="output")
    session = await house.session()
    house.tutor.script = ["Have sesame."]
    assert (await whole(house, session, "Any saffron?"))["reply"] == "Have sesame."
    assert (await whole(house, session, "Any sesame?"))["state"] == "blocked"
    house.tutor.script = ["Have saffron."]
    assert (await whole(house, session, "Well?"))["reply"] == "Have "


async def test_what_is_held_is_dropped_with_a_cancelled_turn_on_every_way(house: House) -> None:
    await in_force(house, LATIN)
    house.tutor.script = ["No fr", asyncio.Event()]
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    events: list[Event] = []
    async with house.here.trainee.stream("POST", url, json={"text": "Hi"}, headers=STREAM) as response:
        async for event in EventReader().read(response):
            events.append(event)
            if event.name == "delta":
                await house.here.trainee.post(f"{url}/1/cancel")
    assert (text_of(events), events[-1].name) == ("No ", "cancelled")
    assert text_of(await followed(house, session, 1)) == "No "


async def test_rules_that_change_meet_the_next_turn_and_not_this_one(house: House) -> None:
    go_on = asyncio.Event()
    house.tutor.script = ["No ", go_on, f"{LATIN}."]
    session = await house.session()
    running = asyncio.create_task(streamed(house, session))
    await until(lambda: house.tutor.open_replies == 1)
    await in_force(house, LATIN)
    go_on.set()
    assert text_of(await running) == f"No {LATIN}."
    house.tutor.script = [f"No {LATIN}."]
    assert text_of(await streamed(house, session)) == "No "
