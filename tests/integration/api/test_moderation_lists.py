"""Phrase lists over HTTP: written in versions, put in force, and refused whole where they are faulty."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import uuid4

import httpx
import pytest

from gateway.api.phrase_list_body import LIMIT_BYTES
from gateway.domain.moderation.phrases import MOST_PHRASES
from tests.integration.api.house import DOCUMENTS, STREAM, House
from tests.support.eventually import eventually

LISTS = "/v1/moderation/lists"
NOBODYS = "00000000-0000-4000-8000-000000000000"


async def made(house: House, *texts: str, **more: object) -> dict[str, Any]:
    body = {"name": f"list {uuid4()}", "phrases": [{"text": text} for text in texts], **more}
    answer = await house.here.instructor.post(LISTS, json=body)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"{LISTS}/{found['id']}"
    return found


async def verdict(house: House, text: str, **more: object) -> str:
    asked = {"text": text, "direction": "input", **more}
    answer = await house.here.service.post("/v1/moderation/check", json=asked)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["verdict"])


def faults(answer: httpx.Response) -> list[str]:
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), answer.text
    return [fault["field"] for fault in answer.json()["errors"]]


async def test_a_list_is_written_read_and_listed(house: House) -> None:
    body: Mapping[str, object] = {
        "name": "compliance",
        "direction": "output",
        "phrases": [{"text": "保本高收益", "severity": 3, "action": "mask"}, {"id": "r-2", "text": "sure win"}],
        "allowed": ["sure winner"],
    }
    created = (await house.here.operator.post(LISTS, json=body)).json()
    assert {**created, "id": "", "created_by": "", "created_at": ""} == {
        "id": "",
        "name": "compliance",
        "scenario_id": None,
        "direction": "output",
        "live_version": None,
        "latest_version": 1,
        "created_by": "",
        "created_at": "",
        "archived_at": None,
    }
    read = (await house.here.instructor.get(f"{LISTS}/{created['id']}")).json()
    (version,) = read.pop("versions")
    assert (read, version["version"], version["phrase_count"]) == (created, 1, 2)
    said = (await house.here.instructor.get(f"{LISTS}/{created['id']}/versions/1")).json()
    assert said["phrases"] == [
        {
            "id": "1",
            "text": "保本高收益",
            "category": "general",
            "severity": 3,
            "action": "mask",
            "spelling": "plain",
        },
        {"id": "r-2", "text": "sure win", "category": "general", "severity": 2, "action": "block", "spelling": "plain"},
    ]
    assert said["allowed"] == ["sure winner"]
    other = await made(house, "a word")
    first = (await house.here.instructor.get(LISTS, params={"limit": 1})).json()
    second = (await house.here.instructor.get(LISTS, params={"limit": 1, "cursor": first["next_cursor"]})).json()
    assert [page["items"][0]["id"] for page in (first, second)] == [other["id"], created["id"]]
    assert second["next_cursor"] is None


async def test_what_comes_into_force_holds_as_soon_as_it_is_answered(house: House) -> None:
    of = f"{LISTS}/{(await made(house, 'old word'))['id']}"
    assert await verdict(house, "an old word") == "allow"
    await house.here.instructor.put(f"{of}/live", json={"version": 1})
    assert await verdict(house, "an old word") == "block"
    added = await house.here.instructor.post(f"{of}/versions", json={"phrases": [{"text": "new word"}]})
    assert (added.status_code, added.json()["version"]) == (201, 2)
    assert added.headers["location"] == f"{of}/versions/2"
    assert await verdict(house, "a new word") == "allow"
    live = (await house.here.instructor.put(f"{of}/live", json={"version": 2})).json()
    assert (live["live_version"], live["latest_version"]) == (2, 2)
    assert [await verdict(house, text) for text in ("an old word", "a new word")] == ["allow", "block"]
    await house.here.instructor.put(f"{of}/live", json={"version": None})
    assert await verdict(house, "a new word") == "allow"


async def test_the_same_content_makes_no_version(house: House) -> None:
    of = f"{LISTS}/{(await made(house, 'old word'))['id']}"
    again = await house.here.instructor.post(f"{of}/versions", json={"phrases": [{"text": "old word", "id": "1"}]})
    assert (again.status_code, again.json()["version"]) == (200, 1)


async def test_lists_are_for_their_scenario_and_direction(house: House) -> None:
    scenario = await house.scenario()
    await made(house, "scene word", scenario_id=scenario, live=True)
    assert await verdict(house, "a scene word") == "allow"
    assert await verdict(house, "a scene word", scenario_id=scenario) == "block"
    await made(house, "model word", direction="output", live=True)
    assert await verdict(house, "a model word") == "allow"
    assert await verdict(house, "a model word", direction="output") == "block"


async def test_a_phrase_in_force_blocks_a_turn_and_leaves_nothing(house: House) -> None:
    session = await house.session()
    await made(house, "sesame", live=True)
    turns = f"/v1/sessions/{session}/turns"
    answer = await house.here.trainee.post(turns, json={"text": "open s.e.s.a.m.e now"}, headers=STREAM)
    assert answer.status_code == 200
    assert "event: blocked" in answer.text
    assert "sesame" not in (await house.here.instructor.get(turns)).text


async def test_a_name_is_taken_for_good(house: House) -> None:
    kept = await made(house, "a word", name="words", live=True)
    for _ in range(2):
        answer = await house.here.instructor.delete(f"{LISTS}/{kept['id']}")
        assert (answer.status_code, answer.content) == (204, b"")
    assert await verdict(house, "a word") == "allow"
    taken = await house.here.instructor.post(LISTS, json={"name": "words", "phrases": [{"text": "other"}]})
    assert (taken.status_code, taken.json()["code"]) == (409, "phrase_list_exists")
    again = await house.here.instructor.put(f"{LISTS}/{kept['id']}/live", json={"version": 1})
    assert (again.status_code, again.json()["code"]) == (404, "phrase_list_not_found")
    assert (await house.here.instructor.get(f"{LISTS}/{kept['id']}")).json()["archived_at"] is not None


@pytest.mark.parametrize("path", ["not-an-id", NOBODYS, "{id}/versions/2", "{id}/versions/0", "{id}/versions/x"])
async def test_what_is_not_there_is_not_found(house: House, path: str) -> None:
    kept = await made(house, "a word")
    answer = await house.here.instructor.get(f"{LISTS}/{path.format(id=kept['id'])}")
    assert (answer.status_code, answer.json()["code"]) == (404, "phrase_list_not_found")


async def test_a_faulty_list_is_refused_with_every_fault_and_no_words(house: House) -> None:
    phrases = [
        {"text": "fine words"},
        {"text": "  "},
        {"text": "fine words", "id": "1"},
        {"text": "hushhush", "category": ""},
        {"text": "x"},
        {"text": "\U0001f600"},
        {"text": "秘密", "spelling": "pinyin"},
        {"text": "hushhush" * 200},
    ]
    answer = await house.here.instructor.post(
        LISTS, json={"name": "bad", "phrases": phrases, "allowed": ["ok ok", "!"]}
    )
    assert faults(answer) == [
        "phrases.0.id",
        "phrases.1.text",
        "phrases.2.id",
        "phrases.3.category",
        "phrases.4.text",
        "phrases.5.text",
        "phrases.6.text",
        "phrases.7.text",
        "allowed.1",
    ]
    assert "hush" not in answer.text
    assert not (await house.here.instructor.get(LISTS)).json()["items"]


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"phrases": []}, ["name"]),
        ({"name": "x"}, ["phrases"]),
        ({"name": "x", "phrases": {}}, ["phrases"]),
        ({"name": "x", "phrases": [], "allowed": "word"}, ["allowed"]),
        ({"name": "", "phrases": []}, ["name"]),
        ({"name": "a\nb", "phrases": []}, ["name"]),
        ({"name": "  ", "phrases": []}, ["name"]),
        ({"name": "\u200b\u202e", "phrases": []}, ["name"]),
        ({"name": "x", "phrases": [], "direction": "up"}, ["direction"]),
        ({"name": "x", "phrases": [], "live": "yes"}, ["live"]),
        ({"name": "x", "phrases": [], "colour": 1}, ["colour"]),
        ({"name": "x", "phrases": ["word", {"text": 5}, {}, {"text": "a", "colour": 1}]},
         ["phrases.0", "phrases.1.text", "phrases.2.text", "phrases.3.colour"]),
        ({"name": "x", "phrases": [{"text": "ab", "severity": 5, "action": "stop", "spelling": "x"}]},
         ["phrases.0.severity", "phrases.0.action", "phrases.0.spelling"]),
        ({"name": "x", "phrases": [{"text": "a\x00b"}], "allowed": [5]}, ["phrases.0.text", "allowed.0"]),
        ({"name": 5, "phrases": [{"text": 5}]}, ["phrases.0.text", "name"]),
        ([], ["body"]),
    ],
)  # fmt: skip
async def test_what_cannot_be_read_is_told_field_by_field(house: House, body: object, where: list[str]) -> None:
    assert faults(await house.here.instructor.post(LISTS, json=body)) == where


async def test_an_empty_list_may_be_kept(house: House) -> None:
    await made(house, live=True)
    assert await verdict(house, "Hello") == "allow"


async def test_bodies_may_be_megabytes_and_no_more(house: House) -> None:
    fits = await made(house, *(f"word number {n}" for n in range(2_000)))
    assert (await house.here.instructor.get(f"{LISTS}/{fits['id']}")).json()["versions"][0]["phrase_count"] == 2_000
    many = {"name": "many", "phrases": [{"text": f"w {n}"} for n in range(MOST_PHRASES)], "allowed": ["one more"]}
    assert faults(await house.here.instructor.post(LISTS, json=many)) == ["phrases"]
    large = await house.here.instructor.post(
        LISTS, content=b" " * (LIMIT_BYTES + 1), headers={"Content-Type": "application/json"}
    )
    assert (large.status_code, large.json()["limit_bytes"]) == (413, LIMIT_BYTES)
    for raw, code in ((b"{", 400), (b"\xff", 400), (b"[" * 200_000, 400), (json.dumps({"name": "x"}).encode(), 415)):
        headers = {"Content-Type": "text/plain" if code == 415 else "application/json"}
        assert (await house.here.instructor.post(LISTS, content=raw, headers=headers)).status_code == code


async def test_a_scenario_of_others_is_none(house: House) -> None:
    theirs = await house.scenario(house.elsewhere)
    for scenario in (theirs, "nonsense", NOBODYS):
        body = {"name": "x", "phrases": [], "scenario_id": scenario}
        answer = await house.here.instructor.post(LISTS, json=body)
        assert (answer.status_code, answer.json()["code"]) == (404, "scenario_not_found")


async def test_no_more_lists_are_taken_in_at_once_than_fit_into_memory(house: House) -> None:
    let_go, begun = asyncio.Event(), 0

    async def slowly(number: int) -> AsyncIterator[bytes]:
        nonlocal begun
        begun += 1
        yield b'{"phrases": [],'
        await let_go.wait()
        yield f'"name": "list {number}"}}'.encode()

    async def sent(number: int) -> httpx.Response:
        headers = {"Content-Type": "application/json"}
        return await house.here.instructor.post(LISTS, content=slowly(number), headers=headers)

    async with asyncio.TaskGroup() as group:
        sending = [group.create_task(sent(number)) for number in range(DOCUMENTS.in_hand)]
        await eventually(lambda: begun == DOCUMENTS.in_hand)
        refused = await house.here.instructor.post(LISTS, json={"name": "one more", "phrases": []})
        assert (refused.status_code, refused.json()["code"]) == (503, "too_many_uploads")
        let_go.set()
    assert {each.result().status_code for each in sending} == {201}
    await made(house)
