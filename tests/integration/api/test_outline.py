"""The outline over real HTTP: points that replies make, and the report of them."""

from typing import Any

from sessions.errors import TutorBroke
from tests.integration.api.house import SCENARIO, STREAM, House

OUTLINE = {
    "required": [
        {"name": "terms", "phrases": ["notice period", "解约期"]},
        {"name": "thanks", "phrases": ["thank you"]},
    ],
    "forbidden": [{"name": "guarantee", "phrases": ["guaranteed return", "保本"]}],
}


async def begun(house: House, **changes: object) -> str:
    body = {**SCENARIO, "outline": OUTLINE, **changes}
    scenario = (await house.here.instructor.post("/v1/scenarios", json=body)).json()
    session = await house.here.trainee.post("/v1/sessions", json={"scenario_id": scenario["id"]})
    return str(session.json()["id"])


async def play(house: House, session: str, *pieces: str | Exception) -> None:
    house.tutor.script = pieces
    url = f"/v1/sessions/{session}/turns"
    assert (await house.here.trainee.post(url, json={"text": "notice period"}, headers=STREAM)).status_code == 200


async def report(house: House, session: str) -> dict[str, Any]:
    found: dict[str, Any] = (await house.here.instructor.get(f"/v1/sessions/{session}/outline")).json()
    return found


async def test_what_replies_say_is_reported_by_point_and_turn(house: House) -> None:
    session = await begun(house)
    nothing = [
        {"kind": kind, "name": point["name"], "made": False, "turns": []} for kind in OUTLINE for point in OUTLINE[kind]
    ]
    assert await report(house, session) == {
        "session_id": session,
        "points": nothing,
        "required_made": 0,
        "required_total": 2,
        "forbidden_made": 0,
        "compliant": False,
    }
    await play(house, session, "The NOTICE\n per", "iod is a month, thank")
    await play(house, session, " you! 这是解 約 期。")
    await play(house, session, "Thank", " you.")
    found = await report(house, session)
    assert [(point["name"], point["turns"]) for point in found["points"]] == [
        ("terms", [1, 2]),
        ("thanks", [3]),  # cut over two turns it is not made
        ("guarantee", []),
    ]
    assert (found["required_made"], found["compliant"]) == (2, True)
    operator = (await house.here.operator.get(f"/v1/sessions/{session}/outline")).json()
    assert operator == found


async def test_a_forbidden_point_waits_for_a_review_and_a_required_one_does_not(house: House) -> None:
    session = await begun(house)
    await play(house, session, "the notice period")
    await play(house, session, "a guaranteed  return")
    assert not (await report(house, session))["compliant"]
    waiting = (await house.here.instructor.get("/v1/moderation/reviews", params={"source": "outline"})).json()["items"]
    assert [(one["turn"], one["verdict"], one["sources"], one["findings"]) for one in waiting] == [
        (2, "flag", ["outline"], 1)
    ]
    shown = (await house.here.instructor.get(f"/v1/sessions/{session}/turns/2")).json()
    assert [finding["rule"] for finding in shown["moderation"]["findings"]] == ["guarantee"]
    assert shown["moderation"]["points"] == ["guarantee"]
    assert (await house.here.trainee.get(f"/v1/sessions/{session}/turns/2")).json()["moderation"] is None


async def test_what_the_trainee_saw_of_a_stopped_reply_counts_and_no_more(house: House) -> None:
    banned = {"name": "words", "phrases": [{"text": "our secret"}], "live": True}
    await house.here.instructor.post("/v1/moderation/lists", json=banned)
    session = await begun(house)
    await play(house, session, "Thank you. It is our sec", "ret, and the notice period is", " a month.")
    await play(house, session, "The notice period is", " a", TutorBroke("gone"))
    turns = (await house.here.instructor.get(f"/v1/sessions/{session}/turns")).json()["items"]
    assert [turn["state"] for turn in turns] == ["blocked", "failed"]
    found = await report(house, session)
    assert [(point["name"], point["turns"]) for point in found["points"]] == [
        ("terms", [2]),
        ("thanks", [1]),
        ("guarantee", []),
    ]


async def test_without_an_outline_nothing_is_to_be_made(house: House) -> None:
    session = await begun(house, outline=None)
    await play(house, session, "the notice period")
    found = await report(house, session)
    assert (found["points"], found["compliant"]) == ([], True)
