"""Reviews over real HTTP: what waits, what is decided, and what that changes at once."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.api.house import House

REVIEWS = "/v1/moderation/reviews"
CONFIRMED = {"decision": "confirmed"}


async def banning(house: House, *texts: str, action: str = "block", live: bool = True) -> str:
    phrases = [{"id": f"r{number}", "text": text, "action": action} for number, text in enumerate(texts)]
    body = {"name": str(uuid4()), "phrases": phrases, "live": live}
    answer = await house.here.instructor.post("/v1/moderation/lists", json=body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def say(house: House, session: str, text: str) -> dict[str, Any]:
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": text})
    assert answer.status_code == 200, answer.text
    turn: dict[str, Any] = answer.json()
    return turn


async def waiting(house: House, **query: str) -> list[tuple[str, int]]:
    answer = await house.here.instructor.get(REVIEWS, params=query)
    assert answer.status_code == 200, answer.text
    return [(one["session_id"], one["turn"]) for one in answer.json()["items"]]


async def decide(house: House, session: str, turn: int, **body: object) -> tuple[int, dict[str, Any]]:
    answer = await house.here.operator.post(f"{REVIEWS}/{session}/{turn}/decision", json=body)
    return answer.status_code, answer.json()


def allowing(list_id: str, phrase: str) -> dict[str, object]:
    return {"allow": {"list_id": list_id, "phrase": phrase}}


async def test_what_moderation_stopped_is_shown_with_the_words_and_the_turns_around_it(house: House) -> None:
    banned = await banning(house, "returns")
    session = await house.session()
    await say(house, session, "Good morning")
    blocked = await say(house, session, "Guaranteed RETURNS, I swear")
    assert (blocked["state"], blocked["text"], blocked["moderation"]) == ("blocked", "", None)
    await say(house, session, "Never mind")
    assert await waiting(house) == [(session, 2)]
    shown = (await house.here.instructor.get(f"{REVIEWS}/{session}/2")).json()
    assert shown["withheld"] == "Guaranteed RETURNS, I swear"
    assert shown["scenario_title"] == "晚到的包裹"
    assert [turn["text"] for turn in (*shown["before"], shown["played"], *shown["after"])] == [
        "Good morning",
        "",
        "Never mind",
    ]
    (finding,) = shown["played"]["moderation"]["findings"]
    assert (finding["source"], finding["rule"], finding["action"]) == ("phrase", "r0", "block")
    review = shown["review"]
    assert (review["state"], review["verdict"], review["blocked_reason"]) == ("open", "block", "banned_phrase")
    assert (review["sources"], review["findings"], review["decision"]) == (["phrase"], 1, None)
    assert banned not in str(shown)


async def test_an_allowed_phrase_is_in_force_with_the_answer(house: House) -> None:
    banned = await banning(house, "returns")
    session = await house.session()
    text = "What is your returns policy?"
    assert (await say(house, session, text))["state"] == "blocked"
    status, made = await decide(
        house, session, 1, decision="false_alarm", note="they ask", effect=allowing(banned, "returns policy")
    )
    assert status == 200
    assert made["effect"] == {**allowing(banned, "returns policy"), "remove_rule": None, "list_version": 2}
    passed = await say(house, session, text)
    assert (passed["state"], passed["text"]) == ("completed", text)
    assert (await say(house, session, "What are your returns?"))["state"] == "blocked"
    assert await waiting(house, state="open") == [(session, 3)]
    assert await waiting(house, state="decided") == [(session, 1)]
    shown = (await house.here.instructor.get(f"{REVIEWS}/{session}/1")).json()["review"]
    assert (shown["state"], shown["decision"]) == ("decided", made)


async def test_a_removed_rule_is_out_of_force_with_the_answer(house: House) -> None:
    banned = await banning(house, "returns", "guarantee", action="flag")
    session = await house.session()
    await say(house, session, "returns are guarantee")
    effect = {"remove_rule": {"list_id": banned, "rule": "r0"}}
    status, made = await decide(house, session, 1, decision="false_alarm", effect=effect)
    assert (status, made["effect"]) == (200, {**effect, "allow": None, "list_version": 2})
    await say(house, session, "your returns")
    await say(house, session, "a guarantee")
    assert await waiting(house, state="open") == [(session, 3)]


async def test_a_list_that_is_not_in_force_stays_out_of_it(house: House) -> None:
    await banning(house, "returns", action="flag")
    draft = await banning(house, "anything", live=False)
    session = await house.session()
    await say(house, session, "returns")
    status, made = await decide(house, session, 1, decision="false_alarm", effect=allowing(draft, "anything else"))
    assert (status, made["effect"]["list_version"]) == (200, 2)
    kept = (await house.here.instructor.get(f"/v1/moderation/lists/{draft}")).json()
    assert (kept["live_version"], kept["latest_version"]) == (None, 2)


async def test_the_first_decision_stands_whoever_comes_after(house: House) -> None:
    await banning(house, "returns", action="flag")
    session = await house.session()
    await say(house, session, "returns")
    path = f"{REVIEWS}/{session}/1/decision"
    bodies = [{"decision": "confirmed", "note": f"reviewer {number}"} for number in range(4)]
    answers = await asyncio.gather(*(house.here.instructor.post(path, json=body) for body in bodies))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409]
    first = next(answer for answer in answers if answer.status_code == 200)
    again = await house.here.operator.post(path, json=bodies[answers.index(first)])
    assert (again.status_code, again.json()) == (200, first.json())
    late = await house.here.operator.post(path, json={"decision": "false_alarm"})
    assert (late.status_code, late.json()["code"]) == (409, "review_decided")


async def test_pages_go_on_while_new_turns_come(house: House) -> None:
    await banning(house, "returns", action="flag")
    session = await house.session()
    for _ in range(3):
        await say(house, session, "returns")
    first = (await house.here.instructor.get(REVIEWS, params={"limit": 2})).json()
    await say(house, session, "returns")
    rest = (await house.here.instructor.get(REVIEWS, params={"limit": 2, "cursor": first["next_cursor"]})).json()
    assert [one["turn"] for one in (*first["items"], *rest["items"])] == [3, 2, 1]
    assert rest["next_cursor"] is None
    assert await waiting(house, session_id=session, limit="1") == [(session, 4)]
    assert await waiting(house, session_id=str(uuid4())) == []
    assert await waiting(house, session_id="no id") == []
    assert await waiting(house, verdict="block") == []
    assert await waiting(house, source="phrase", verdict="flag", limit="1") == [(session, 4)]


@pytest.mark.parametrize(
    "query",
    [{"state": "maybe"}, {"source": "gossip"}, {"verdict": "allow"}, {"cursor": "x"}, {"limit": "0"}, {"who": "me"}],
)
async def test_what_cannot_be_asked_for_is_refused(house: House, query: dict[str, str]) -> None:
    answer = await house.here.instructor.get(REVIEWS, params=query)
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert [fault["field"] for fault in answer.json()["errors"]] == list(query)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "decision"),
        ({"decision": "maybe"}, "decision"),
        ({**CONFIRMED, "note": "x" * 2001}, "note"),
        ({**CONFIRMED, "note": "\u0007"}, "note"),
        ({**CONFIRMED, "effect": {"remove_rule": {"list_id": "{list}", "rule": "r0"}}}, "effect"),
        ({"decision": "false_alarm", "effect": {}}, "effect"),
        (
            {
                "decision": "false_alarm",
                "effect": {
                    "allow": {"list_id": "{list}", "phrase": "a b"},
                    "remove_rule": {"list_id": "{list}", "rule": "r0"},
                },
            },
            "effect",
        ),
        ({"decision": "false_alarm", "effect": {"allow": {"list_id": "{list}", "phrase": "..."}}}, "effect.allow"),
        (
            {"decision": "false_alarm", "effect": {"remove_rule": {"list_id": "{list}", "rule": "r7"}}},
            "effect.remove_rule",
        ),
    ],
)
async def test_what_cannot_be_decided_is_refused_by_field(house: House, body: dict[str, Any], field: str) -> None:
    banned = await banning(house, "returns", action="flag")
    session = await house.session()
    await say(house, session, "returns")
    for part in body.get("effect", {}).values():
        part["list_id"] = banned
    status, problem = await decide(house, session, 1, **body)
    assert (status, problem["code"]) == (422, "invalid_request")
    assert [fault["field"] for fault in problem["errors"]] == [field]
    assert await waiting(house, state="decided") == []


async def test_lists_and_turns_that_are_not_there_are_told(house: House) -> None:
    await banning(house, "returns", action="flag")
    session = await house.session()
    await say(house, session, "returns")
    for list_id in (str(uuid4()), "no id"):
        status, problem = await decide(house, session, 1, decision="false_alarm", effect=allowing(list_id, "a b"))
        assert (status, problem["code"]) == (404, "phrase_list_not_found")
    for path in (f"{session}/2", f"{session}/0", f"{session}/one", "no-id/1", f"{uuid4()}/1"):
        answer = await house.here.instructor.get(f"{REVIEWS}/{path}")
        assert (answer.status_code, answer.json()["code"]) == (404, "review_not_found"), path


async def test_decisions_stand_in_the_audit_trail_without_words(house: House) -> None:
    banned = await banning(house, "returns")
    session = await house.session()
    await say(house, session, "returns policy")
    await decide(house, session, 1, decision="false_alarm", note="ask her", effect=allowing(banned, "returns policy"))
    told = (await house.here.instructor.get("/v1/moderation/audit")).json()["items"]
    assert [line["action"] for line in told] == ["list_live", "version_added", "turn_reviewed", "list_created"]
    assert told[2]["subject"] == f"{session}/1"
    assert told[2]["facts"] == {"decision": "false_alarm", "effect": "allow", "list": banned}
    assert len({line["actor"] for line in told[:3]}) == 1
    assert "returns" not in str(told)
    assert "ask her" not in str(told)
