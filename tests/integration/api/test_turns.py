import asyncio
import random

import httpx
import pytest

from sessions.errors import TutorUnavailable
from tests.integration.api.event_reader import Event, EventReader, events_of, text_of
from tests.integration.api.house import STREAM, House, until
from tests.support.session_fakes import broken


async def test_a_turn_without_a_stream_is_answered_when_it_is_finished(house: House) -> None:
    session = await house.session()
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "您好"})
    assert answer.status_code == 200
    assert answer.headers["x-replica-id"] == "replica-1"
    assert answer.headers["x-session-pin"] == "kept"
    turn = answer.json()
    assert list(turn) == [
        *("session_id", "turn", "state", "scene", "text", "reply", "finish_reason", "usage", "timings", "replica"),
        *("continued", "model", "tier", "fell_back", "citations", "error", "blocked_reason", "moderation"),
        *("started_at", "ended_at"),
    ]
    assert (turn["turn"], turn["state"], turn["text"], turn["reply"]) == (1, "completed", "您好", "Hello there.")
    assert turn["usage"] == {"prompt_tokens": 50, "cached_tokens": 40, "completion_tokens": 2}
    assert turn["started_at"].endswith("Z")
    stored = await house.here.instructor.get(f"/v1/sessions/{session}/turns/1")
    assert stored.json() == turn


async def test_a_streamed_turn_sends_exactly_the_promised_events(house: House) -> None:
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    answer = await house.here.trainee.post(url, json={"text": "Hi"}, headers=STREAM)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache, no-transform"
    assert answer.headers["x-accel-buffering"] == "no"
    assert answer.headers["x-replica-id"] == "replica-1"
    assert answer.headers["x-session-pin"] == "kept"
    assert "content-length" not in answer.headers
    events = events_of(answer.content)
    assert events[0] == Event("1-1", "accepted", {"session_id": session, "turn": 1, "replica": "replica-1"})
    assert text_of(events) == "Hello there."
    assert [event.name for event in events].count("done") == 1
    last = events[-1]
    stored = (await house.here.trainee.get(f"{url}/1")).json()
    assert last.name == "done"
    assert list(last.data) == [
        *("turn", "finish_reason", "usage", "timings", "replica", "continued"),
        *("model", "tier", "fell_back", "citations"),
    ]
    assert last.data == {name: stored[name] for name in last.data}
    assert all(event.id.startswith("1-") for event in events)


async def test_letters_leave_as_they_are_and_line_breaks_do_not_cut_an_event(house: House) -> None:
    house.tutor.script = ["第一行\n第二\u2028行🙂", "\r\n\n完"]
    session = await house.session()
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"}, headers=STREAM)
    assert "第一行".encode() in answer.content
    assert text_of(events_of(answer.content)) == "第一行\n第二\u2028行🙂\r\n\n完"


async def test_heartbeats_come_before_the_first_text(house: House) -> None:
    go_on = asyncio.Event()
    house.tutor.script = [go_on, "Late."]
    session = await house.session()
    reader, names = EventReader(), []
    url = f"/v1/sessions/{session}/turns"
    async with house.here.trainee.stream("POST", url, json={"text": "Hi"}, headers=STREAM) as response:
        async for chunk in response.aiter_raw():
            names += [event.name for event in reader.feed(chunk)]
            if reader.heartbeats >= 2 and not go_on.is_set():
                assert names == ["accepted"]
                go_on.set()
    assert names == ["accepted", "delta", "done"]


async def test_events_that_are_ready_together_leave_in_one_write(house: House) -> None:
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    await house.here.trainee.post(url, json={"text": "Hi"})
    async with house.here.trainee.stream("GET", f"{url}/1/events", headers=STREAM) as response:
        chunks = [chunk async for chunk in response.aiter_raw()]
    assert len(chunks) == 1


async def test_a_stream_cut_at_random_places_and_resumed_gives_each_letter_once(house: House) -> None:
    dice = random.Random(7)  # noqa: S311
    for _ in range(8):
        pieces = ["".join(dice.choices("抱歉让您久等ab \n", k=dice.randint(1, 4))) for _ in range(12)]
        gates = [asyncio.Event() for _ in pieces]
        house.tutor.script = [part for pair in zip(gates, pieces, strict=True) for part in pair]
        session = await house.session()
        events = await _read_with_cuts(house.here.trainee, f"/v1/sessions/{session}/turns", gates, dice)
        assert text_of(events) == "".join(pieces)
        assert [event.name for event in events if event.name != "delta"] == ["accepted", "done"]
        assert len({event.id for event in events}) == len(events)


async def _read_with_cuts(
    client: httpx.AsyncClient, url: str, gates: list[asyncio.Event], dice: random.Random
) -> list[Event]:
    """Read a turn by a POST and then by GETs, each given up after a random number of events."""
    closed = iter(gates)
    next(closed).set()
    events: list[Event] = []
    method, path, body = "POST", url, {"text": "Hi"}
    while not events or events[-1].name != "done":
        headers = {**STREAM, "Last-Event-ID": events[-1].id} if events else STREAM
        patience = dice.randint(1, 4)
        async with client.stream(method, path, json=body if method == "POST" else None, headers=headers) as response:
            assert response.status_code == 200
            async for event in EventReader().read(response):
                events.append(event)
                if (gate := next(closed, None)) is not None:
                    gate.set()
                patience -= 1
                if patience == 0:
                    break
        method, path = "GET", f"{url}/1/events"
    return events


async def test_a_reader_past_the_end_gets_nothing_again(house: House) -> None:
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    taken = await house.here.trainee.post(url, json={"text": "Hi"}, headers=STREAM)
    last = events_of(taken.content)[-1]
    again = await house.here.trainee.get(f"{url}/1/events", headers={**STREAM, "Last-Event-ID": last.id})
    assert (again.status_code, again.content) == (200, b"")


async def test_many_readers_follow_one_turn(house: House) -> None:
    go_on = asyncio.Event()
    house.tutor.script = ["One ", go_on, "two."]
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    async with house.here.trainee.stream("POST", url, json={"text": "Hi"}, headers=STREAM) as first:
        reading = first.aiter_raw()
        assert await anext(reading)
        others = [asyncio.create_task(house.here.trainee.get(f"{url}/1/events", headers=STREAM)) for _ in range(5)]
        go_on.set()
        answers = await asyncio.gather(*others)
    assert {text_of(events_of(answer.content)) for answer in answers} == {"One two."}


async def test_a_lost_client_ends_only_its_reading(house: House) -> None:
    go_on = asyncio.Event()
    house.tutor.script = ["One ", go_on, "two."]
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    before = len(asyncio.all_tasks())
    async with house.here.trainee.stream("POST", url, json={"text": "Hi"}, headers=STREAM) as response:
        assert await anext(response.aiter_raw())
    # The turn's own task is left; those of the reader and of the connection are gone.
    await until(lambda: len(asyncio.all_tasks()) <= before + 1)
    go_on.set()
    await until(lambda: house.turns.count == 0)
    stored = await house.here.trainee.get(f"{url}/1")
    assert stored.json()["reply"] == "One two."


async def test_a_cancelled_turn_keeps_what_was_released(house: House) -> None:
    house.tutor.script = ["One ", asyncio.Event(), "two."]
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    reader, events = EventReader(), []
    async with house.here.trainee.stream("POST", url, json={"text": "Hi"}, headers=STREAM) as response:
        async for event in reader.read(response):
            events.append(event)
            if event.name == "delta":
                cancelled = await house.here.trainee.post(f"{url}/1/cancel")
                assert cancelled.status_code == 202
    assert (events[-1].name, events[-1].data) == ("cancelled", {})
    stored = (await house.here.trainee.get(f"{url}/1")).json()
    assert (stored["state"], stored["reply"]) == ("cancelled", "One ")
    again = await house.here.trainee.post(f"{url}/1/cancel")
    assert again.status_code == 202
    missing = await house.here.trainee.post(f"{url}/2/cancel")
    assert (missing.status_code, missing.json()["code"]) == (404, "turn_not_found")


async def test_a_caller_who_waits_is_told_of_a_cancelled_turn_with_200(house: House) -> None:
    house.tutor.script = ["One ", asyncio.Event()]
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    waiting = asyncio.create_task(house.here.trainee.post(url, json={"text": "Hi"}))
    await until(lambda: house.tutor.open_replies == 1)
    await house.here.trainee.post(f"{url}/1/cancel")
    answer = await waiting
    assert (answer.status_code, answer.json()["state"]) == (200, "cancelled")


async def test_a_failed_turn_is_an_error_event_or_a_problem(house: House) -> None:
    house.tutor.script = ["One ", broken()]
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    streamed = await house.here.trainee.post(url, json={"text": "Hi"}, headers=STREAM)
    last = events_of(streamed.content)[-1]
    assert (last.name, last.data["code"], last.data["retryable"]) == ("error", "tutor_broke", True)
    whole = await house.here.trainee.post(url, json={"text": "Hi"})
    assert whole.status_code == 502
    assert whole.headers["content-type"] == "application/problem+json"
    assert {name: whole.json()[name] for name in ("code", "status", "retryable", "turn")} == {
        "code": "tutor_broke",
        "status": 502,
        "retryable": True,
        "turn": 2,
    }
    assert whole.headers["retry-after"] == "1"


async def test_a_refusal_comes_before_any_status(house: House) -> None:
    house.tutor.refusal = TutorUnavailable("replica-1 at some address", retry_after_s=2.5)
    session = await house.session()
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"}, headers=STREAM)
    assert (answer.status_code, answer.json()["code"]) == (503, "no_replica")
    assert answer.headers["retry-after"] == "3"
    assert "address" not in answer.text


async def test_a_second_turn_is_told_that_the_session_is_busy(house: House) -> None:
    go_on = asyncio.Event()
    house.tutor.script = [go_on, "Done."]
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    first = asyncio.create_task(house.here.trainee.post(url, json={"text": "Hi"}))
    await until(lambda: house.tutor.open_replies == 1)
    second = await house.here.trainee.post(url, json={"text": "Hi"})
    assert (second.status_code, second.json()["code"]) == (409, "session_busy")
    assert int(second.headers["retry-after"]) >= 1
    go_on.set()
    assert (await first).status_code == 200


async def test_the_same_key_joins_a_running_turn_and_replays_a_finished_one(house: House) -> None:
    go_on = asyncio.Event()
    house.tutor.script = [go_on, "Done."]
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    key = {"Idempotency-Key": "a-key"}
    first = asyncio.create_task(house.here.trainee.post(url, json={"text": "Hi"}, headers=key))
    await until(lambda: house.tutor.open_replies == 1)
    joined = asyncio.create_task(house.here.trainee.post(url, json={"text": "Hi"}, headers=key))
    other = await house.here.trainee.post(url, json={"text": "Other"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    go_on.set()
    assert (await first).json() == (await joined).json()
    replayed = await house.here.trainee.post(url, json={"text": "Hi"}, headers={**key, **STREAM})
    assert text_of(events_of(replayed.content)) == "Done."
    assert "x-session-pin" not in replayed.headers
    assert len(house.tutor.requests) == 1


async def test_turns_are_listed_page_by_page(house: House) -> None:
    session = await house.session()
    url = f"/v1/sessions/{session}/turns"
    for number in range(3):
        await house.here.trainee.post(url, json={"text": f"Message {number}"})
    first = (await house.here.instructor.get(url, params={"limit": 2})).json()
    second = (await house.here.instructor.get(url, params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [turn["turn"] for turn in first["items"] + second["items"]] == [1, 2, 3]
    assert second["next_cursor"] is None


@pytest.mark.parametrize("accept", ["application/json", "*/*", "application/*;q=0.5", "", "text/html, */*;q=0.1"])
async def test_whoever_does_not_ask_for_events_gets_json(house: House, accept: str) -> None:
    session = await house.session()
    headers = {"Accept": accept}
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"}, headers=headers)
    assert answer.headers["content-type"] == "application/json"


async def test_the_answer_of_a_stopped_database_says_so(house: House) -> None:
    session = await house.session()
    house.records.away = True
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"}, headers=STREAM)
    assert (answer.status_code, answer.json()["code"]) == (503, "records_unavailable")
    assert answer.headers["retry-after"] == "1"
