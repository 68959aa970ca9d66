import asyncio
from uuid import uuid4

from sessions.adapters.memory_turn_lock import MemoryTurnLock
from tests.integration.api.house import STREAM, House
from tests.integration.api.house import house as running


async def test_a_session_starts_with_the_opening_of_its_scenario(house: House) -> None:
    scenario = await house.scenario()
    order = {"scenario_id": scenario, "metadata": {"course": "一"}}
    started = await house.here.trainee.post("/v1/sessions", json=order)
    assert started.status_code == 201
    session = started.json()
    assert started.headers["location"] == f"/v1/sessions/{session['id']}"
    assert session["scenario_id"] == scenario
    assert session["opening"] == "我的桌子在哪里?"
    assert session["metadata"] == {"course": "一"}
    assert session["drill_id"] is None
    assert (session["state"], session["turn_count"], session["scenario_version"]) == ("open", 0, 1)
    for reader in (house.here.trainee, house.here.instructor, house.here.operator, house.here.service):
        assert (await reader.get(started.headers["location"])).json() == session


async def test_the_same_key_starts_one_session(house: House) -> None:
    scenario, key = await house.scenario(), {"Idempotency-Key": "k1"}
    order = {"scenario_id": scenario, "metadata": {"a": "1", "b": "2"}}
    first = await house.here.trainee.post("/v1/sessions", json=order, headers=key)
    reordered = {"metadata": {"b": "2", "a": "1"}, "scenario_id": scenario}
    again = await house.here.trainee.post("/v1/sessions", json=reordered, headers=key)
    assert (again.status_code, again.json()) == (201, first.json())
    other = await house.here.trainee.post("/v1/sessions", json={"scenario_id": scenario}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    somebody_else = await house.here.other_trainee.post("/v1/sessions", json=order, headers=key)
    assert somebody_else.json()["id"] != first.json()["id"]


async def test_there_are_no_drills_yet(house: House) -> None:
    scenario = await house.scenario()
    order = {"scenario_id": scenario, "drill_id": str(uuid4())}
    refused = await house.here.trainee.post("/v1/sessions", json=order)
    assert (refused.status_code, refused.json()["code"]) == (404, "drill_not_found")
    await house.session()
    listed = await house.here.instructor.get("/v1/sessions", params={"drill_id": str(uuid4())})
    assert listed.json() == {"items": [], "next_cursor": None}
    own = await house.here.trainee.post("/v1/sessions", json={"scenario_id": scenario, "drill_id": None})
    assert own.status_code == 201


async def test_sessions_are_filtered(house: House) -> None:
    session = (await house.here.trainee.get(f"/v1/sessions/{await house.session()}")).json()
    closed = await house.session()
    await house.here.trainee.post(f"/v1/sessions/{closed}/close")

    async def found(**query: str) -> list[str]:
        page = (await house.here.instructor.get("/v1/sessions", params=query)).json()
        return [item["id"] for item in page["items"]]

    assert await found() == [closed, session["id"]]
    assert await found(state="open") == [session["id"]]
    assert await found(state="closed", trainee_id=session["trainee_id"]) == [closed]
    assert await found(trainee_id=str(uuid4())) == []
    assert await found(trainee_id="nobody") == []
    others = (await house.here.other_trainee.get("/v1/sessions")).json()
    assert others["items"] == []


async def test_closing_twice_is_nothing_and_a_closed_session_takes_no_turn(house: House) -> None:
    session = await house.session()
    first = await house.here.trainee.post(f"/v1/sessions/{session}/close")
    assert (first.status_code, first.json()["state"]) == (200, "closed")
    again = await house.here.trainee.post(f"/v1/sessions/{session}/close")
    assert again.json() == first.json()
    turn = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"})
    assert (turn.status_code, turn.json()["code"]) == (409, "session_closed")


async def test_the_scene_changes_between_turns(house: House) -> None:
    session = await house.session()
    url = f"/v1/sessions/{session}"
    trainee = house.here.trainee
    assert (await trainee.get(url)).json()["scene"] == "complaint"
    changed = await trainee.post(f"{url}/scene", json={"scene": "agreement"})
    assert (changed.status_code, changed.json()["scene"]) == (200, "agreement")
    assert (await trainee.get(url)).json() == changed.json()
    again = await trainee.post(f"{url}/scene", json={"scene": "agreement"})
    assert again.json() == changed.json()
    unknown = await trainee.post(f"{url}/scene", json={"scene": "revenge"})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "invalid_request")
    told = "the scenario has no scene of this name; there are complaint, agreement"
    assert unknown.json()["errors"] == [{"field": "scene", "detail": told}]
    await trainee.post(f"{url}/close")
    closed = await trainee.post(f"{url}/scene", json={"scene": "complaint"})
    assert (closed.status_code, closed.json()["code"]) == (409, "session_closed")


async def test_the_scene_does_not_change_under_a_running_turn() -> None:
    go_on = asyncio.Event()
    async with running(lock=MemoryTurnLock()) as house:
        house.tutor.script = ["Hello", go_on]
        url = f"/v1/sessions/{await house.session()}"
        async with house.here.trainee.stream("POST", f"{url}/turns", json={"text": "Hi"}, headers=STREAM):
            busy = await house.here.trainee.post(f"{url}/scene", json={"scene": "agreement"})
            go_on.set()
        assert (busy.status_code, busy.json()["code"]) == (409, "session_busy")
        assert int(busy.headers["retry-after"]) >= 1


async def test_the_scenario_limits_the_turns(house: House) -> None:
    session = await house.session()
    for _ in range(5):
        await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"})
    answer = await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"})
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["limit"]) == (409, "turn_limit_reached", 5)


async def test_the_context_tells_how_the_next_prompt_is_built(house: House) -> None:
    session = await house.session()
    await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"})
    answer = await house.here.instructor.get(f"/v1/sessions/{session}/context")
    context = answer.json()
    assert answer.status_code == 200
    assert list(context) == [
        *("session_id", "model", "window_tokens", "reply_tokens", "prompt_tokens", "available_tokens", "blocks"),
        *("messages", "summary", "notes", "prompt_sha256", "counted_by"),
    ]
    assert [message["role"] for message in context["messages"]] == ["system", "assistant", "user", "assistant"]
    assert context["blocks"][-1]["from_turn"] == context["blocks"][-1]["to_turn"] == 1
    assert context["summary"] is None


async def test_one_key_used_by_many_at_once_starts_one_session(house: House) -> None:
    scenario = await house.scenario()
    calls = [
        house.here.trainee.post("/v1/sessions", json={"scenario_id": scenario}, headers={"Idempotency-Key": "k"})
        for _ in range(8)
    ]
    answers = await asyncio.gather(*calls)
    assert len({answer.json()["id"] for answer in answers}) == 1
