"""A page follows its turn by EventSource: no header, one ticket, once."""

import asyncio
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from tests.integration.api.event_reader import events_of, text_of
from tests.integration.api.house import House


async def taken(house: House) -> str:
    """The path of a finished turn."""
    session = await house.session()
    await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"})
    return f"/v1/sessions/{session}/turns/1"


async def ticket_for(house: House, turn: str) -> str:
    answer = await house.here.trainee.post(f"{turn}/ticket")
    assert answer.status_code == 201, answer.text
    assert answer.json()["expires_in"] == 30
    return str(answer.json()["ticket"])


async def test_a_ticket_opens_its_turns_stream_once(house: House) -> None:
    turn = await taken(house)
    ticket = await ticket_for(house, turn)
    with capture_logs() as logged:
        answer = await house.nobody.get(f"{turn}/events", params={"ticket": ticket})
        assert text_of(events_of(answer.content)) == "Hello there."
        again = await house.nobody.get(f"{turn}/events", params={"ticket": ticket})
    assert (again.status_code, again.json()["code"]) == (401, "unauthenticated")
    assert 'error="invalid_token"' in again.headers["www-authenticate"]
    assert ticket not in str(logged)
    assert {line["auth"] for line in logged if line["event"] == "request"} == {"ticket"}


async def test_a_page_that_has_read_some_gets_the_rest(house: House) -> None:
    turn = await taken(house)
    for place, rest in (("1-6", " there."), ("1-0", "Hello there."), ("", "Hello there.")):
        params = {"ticket": await ticket_for(house, turn), "last_event_id": place}
        answer = await house.nobody.get(f"{turn}/events", params=params)
        assert text_of(events_of(answer.content)) == rest
    params = {"ticket": await ticket_for(house, turn), "last_event_id": "1-0"}
    answer = await house.nobody.get(f"{turn}/events", params=params, headers={"Last-Event-ID": "1-6"})
    assert text_of(events_of(answer.content)) == " there."


@pytest.mark.parametrize("place", ["2-0", "x", "1", "1-1-1"])
async def test_a_place_of_another_turn_is_refused(house: House, place: str) -> None:
    turn = await taken(house)
    params = {"ticket": await ticket_for(house, turn), "last_event_id": place}
    assert (await house.nobody.get(f"{turn}/events", params=params)).status_code == 422


async def test_of_many_at_once_one_is_let_in(house: House) -> None:
    turn = await taken(house)
    params = {"ticket": await ticket_for(house, turn)}
    answers = await asyncio.gather(*(house.nobody.get(f"{turn}/events", params=params) for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [200] + [401] * 7


async def test_a_ticket_opens_nothing_else(house: House) -> None:
    turn = await taken(house)
    session = turn.removesuffix("/turns/1")
    await house.here.trainee.post(f"{session}/turns", json={"text": "Go on"})
    elsewhere = await taken(house)
    for path in (f"{session}/turns/2/events", f"{elsewhere}/events", turn, session, f"{turn}/cancel"):
        ticket = await ticket_for(house, turn)
        assert (await house.nobody.get(path, params={"ticket": ticket})).status_code in (401, 405), path
        sent = await house.nobody.post(path, params={"ticket": ticket})
        assert sent.status_code in (401, 405), path


async def test_a_ticket_beside_a_key_or_another_ticket_is_refused(house: House) -> None:
    turn = await taken(house)
    params = {"ticket": await ticket_for(house, turn)}
    assert (await house.here.trainee.get(f"{turn}/events", params=params)).status_code == 401
    twice = f"{turn}/events?ticket={params['ticket']}&ticket={params['ticket']}"
    assert (await house.nobody.get(twice)).status_code == 401


@pytest.mark.parametrize("ticket", ["made-up", "x" * 5000, "\x00", "é"])
async def test_a_made_up_ticket_is_refused(house: House, ticket: str) -> None:
    turn = await taken(house)
    assert (await house.nobody.get(f"{turn}/events", params={"ticket": ticket})).status_code == 401


async def test_who_may_not_read_a_turn_gets_no_ticket_for_it(house: House) -> None:
    turn = await taken(house)
    assert (await house.here.other_trainee.post(f"{turn}/ticket")).json()["code"] == "session_not_found"
    assert (await house.elsewhere.trainee.post(f"{turn}/ticket")).json()["code"] == "session_not_found"
    assert (await house.here.instructor.post(f"{turn}/ticket")).status_code == 403
    missing = await house.here.trainee.post(f"{turn.removesuffix('1')}x/ticket")
    assert (missing.status_code, missing.json()["code"]) == (404, "turn_not_found")


async def test_a_key_with_scopes_gets_tickets_only_for_what_it_may(house: House) -> None:
    turn = await taken(house)
    (key,) = [key for key in house.keys.stored if str(key) in house.here.trainee.headers["authorization"]]
    stored = house.keys.stored[key]
    house.keys.stored[key] = replace(stored, principal=replace(stored.principal, scopes=frozenset()))
    refused = await house.here.trainee.post(f"{turn}/ticket")
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
