"""What a caller gets who waits for the whole turn, for each way in which a turn ends."""

import asyncio

import httpx
import pytest

from tests.integration.api.house import House, until
from tests.support.session_fakes import broken


async def test_a_turn_that_was_stopped_with_the_server_may_be_tried_again(house: House) -> None:
    house.tutor.script = ["One ", asyncio.Event()]
    session = await house.session()
    waiting = asyncio.create_task(house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"}))
    await until(lambda: house.tutor.open_replies == 1)
    house.turns._stop_all()
    answer = await waiting
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["retryable"]) == (503, "server_stopping", True)
    assert answer.headers["retry-after"] == "1"
    assert answer.headers["x-replica-id"] == "replica-1"


async def test_a_turn_that_could_not_be_stored_is_not_called_done(house: House) -> None:
    go_on = asyncio.Event()
    house.tutor.script = ["One ", go_on]
    session = await house.session()
    waiting = asyncio.create_task(house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"}))
    await until(lambda: house.tutor.open_replies == 1)
    house.records.away = True
    go_on.set()
    answer = await waiting
    assert (answer.status_code, answer.json()["code"], answer.json()["turn"]) == (503, "records_unavailable", 1)


async def test_a_fault_of_ours_within_a_turn_tells_nothing(house: House) -> None:
    house.tutor.script = ["One ", ZeroDivisionError("the secret inside")]
    session = await house.session()
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "secret" not in answer.text


async def test_a_failed_turn_can_be_taken_again_with_the_same_key(house: House) -> None:
    house.tutor.script = ["One ", broken()]
    session = await house.session()
    url, key = f"/v1/sessions/{session}/turns", {"Idempotency-Key": "k"}
    assert (await house.here.trainee.post(url, json={"text": "Hi"}, headers=key)).status_code == 502
    house.tutor.script = ["One two."]
    again = await house.here.trainee.post(url, json={"text": "Hi"}, headers=key)
    assert (again.status_code, again.json()["reply"], again.json()["turn"]) == (200, "One two.", 2)


async def test_who_leaves_before_the_end_is_no_reader_any_more(house: House) -> None:
    house.tutor.script = ["One ", asyncio.Event()]
    session = await house.session()
    with pytest.raises(httpx.ReadTimeout):
        await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"}, timeout=0.2)
    (running,) = house.turns._running.values()
    journal = running.journal
    assert journal is not None
    await until(lambda: journal.readers == 0)


async def test_who_waits_at_a_process_that_can_tell_no_more_is_asked_to_come_again(house: House) -> None:
    house.tutor.script = ["One ", asyncio.Event()]
    session = await house.session()
    waiting = asyncio.create_task(house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"}))
    await until(lambda: house.tutor.open_replies == 1)
    (running,) = house.turns._running.values()
    assert running.journal is not None
    running.journal.cut()
    answer = await waiting
    assert (answer.status_code, answer.json()["code"]) == (503, "journal_unavailable")
    assert answer.headers["retry-after"] == "2"
