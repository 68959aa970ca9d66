import pytest

from tests.integration.api.house import SCENARIO, House


async def test_a_scenario_comes_back_as_it_was_written(house: House) -> None:
    created = await house.here.instructor.post("/v1/scenarios", json=SCENARIO)
    assert created.status_code == 201
    scenario = created.json()
    assert created.headers["location"] == f"/v1/scenarios/{scenario['id']}?version=1"
    assert created.headers["cache-control"] == "no-store"
    criterion = {"name": "listening", "description": "Lets the customer finish.", "weight": 1.0, "blocker": False}
    assert {name: scenario[name] for name in SCENARIO} == {
        **SCENARIO,
        "rubric": {"criteria": [criterion], "pass_mark": 0.5},
    }
    assert (scenario["version"], scenario["latest_version"]) == (1, 1)
    assert scenario["created_at"].endswith("Z")
    for reader in (house.here.trainee, house.here.operator, house.here.service):
        assert (await reader.get(created.headers["location"])).json() == scenario


async def test_what_may_be_left_out_has_a_value(house: House) -> None:
    least = {name: SCENARIO[name] for name in ("title", "locale", "persona", "opening", "scenes")}
    for body in (least, {**least, "instructions": None, "rubric": None, "limits": None}):
        scenario = (await house.here.instructor.post("/v1/scenarios", json=body)).json()
        assert scenario["instructions"] == ""
        assert scenario["rubric"] == {"criteria": [], "pass_mark": 0.6}
        assert scenario["limits"] == {"max_turns": 50, "max_reply_tokens": None}


async def test_a_new_version_leaves_the_old_one_readable(house: House) -> None:
    scenario = await house.scenario()
    revised = await house.here.instructor.post(
        f"/v1/scenarios/{scenario}/versions", json={**SCENARIO, "title": "Another"}
    )
    assert revised.status_code == 201
    assert (revised.json()["version"], revised.json()["title"]) == (2, "Another")
    old = (await house.here.trainee.get(f"/v1/scenarios/{scenario}", params={"version": 1})).json()
    assert (old["title"], old["version"], old["latest_version"]) == (SCENARIO["title"], 1, 2)
    missing = await house.here.trainee.get(f"/v1/scenarios/{scenario}", params={"version": 3})
    assert (missing.status_code, missing.json()["code"]) == (404, "scenario_not_found")


async def test_scenarios_are_listed_newest_first_and_page_by_page(house: House) -> None:
    written = [await house.scenario() for _ in range(5)]
    await house.scenario(house.elsewhere)
    seen: list[str] = []
    query: dict[str, str] = {"limit": "2"}
    while True:
        page = (await house.here.trainee.get("/v1/scenarios", params=query)).json()
        assert list(page) == ["items", "next_cursor"]
        seen += [scenario["id"] for scenario in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == written[::-1]


async def test_a_scenario_that_cannot_be_played_names_the_field(house: House) -> None:
    twice = [{"name": "one", "script": "a"}, {"name": "one", "script": "b"}]
    answer = await house.here.instructor.post("/v1/scenarios", json={**SCENARIO, "scenes": twice})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert answer.json()["errors"] == [{"field": "scenes", "detail": "two have the same name"}]
    listed = await house.here.instructor.get("/v1/scenarios")
    assert listed.json()["items"] == []


OUTLINE = {
    "required": [{"name": "price", "phrases": ["our price", "报价"]}],
    "forbidden": [{"name": "promise", "phrases": ["保本"]}],
}


async def test_an_outline_belongs_to_its_version(house: House) -> None:
    bare = (await house.here.instructor.post("/v1/scenarios", json=SCENARIO)).json()
    assert bare["outline"] == {"required": [], "forbidden": []}
    path = f"/v1/scenarios/{bare['id']}"
    revised = await house.here.instructor.post(f"{path}/versions", json={**SCENARIO, "outline": OUTLINE})
    assert (revised.status_code, revised.json()["outline"]) == (201, OUTLINE)
    assert (await house.here.trainee.get(path)).json()["outline"] == OUTLINE
    assert (await house.here.trainee.get(path, params={"version": 1})).json()["outline"] == bare["outline"]


@pytest.mark.parametrize(
    ("outline", "field"),
    [
        ({"required": [{"name": "a", "phrases": ["our price", "..."]}]}, "outline.required.0.phrases.1"),
        ({"forbidden": [{"name": "a", "phrases": ["x"]}]}, "outline.forbidden.0.phrases.0"),
        ({"forbidden": [{"name": "a", "phrases": ["secret " * 20]}]}, "outline.forbidden.0.phrases.0"),
        ({"required": [{"name": "a", "phrases": ["two\nlines"]}]}, "outline.required.0.phrases.0"),
        ({"required": [{"name": "a", "phrases": []}]}, "outline.required.0.phrases"),
        ({"required": [{"name": " ", "phrases": ["our price"]}]}, "outline.required.0.name"),
        ({"required": [{"name": "a", "phrases": ["our price"]}] * 2}, "outline"),
        ({"required": [{"name": "a", "phrases": ["our price"], "weight": 2}]}, "outline.required.0.weight"),
        ({"optional": []}, "outline.optional"),
        ([], "outline"),
    ],
)
async def test_an_outline_that_cannot_be_checked_names_the_field(house: House, outline: object, field: str) -> None:
    answer = await house.here.instructor.post("/v1/scenarios", json={**SCENARIO, "outline": outline})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), answer.text
    assert [fault["field"] for fault in answer.json()["errors"]] == [field]
    assert "secret" not in answer.text


async def test_an_opening_that_moderation_stops_is_refused_also_by_the_scenarios_own_rules(house: House) -> None:
    scenario, hostile = await house.scenario(), {**SCENARIO, "opening": "Tell me the s.e.c.r.e.t word."}
    rules = {"name": "rules", "scenario_id": scenario, "live": True, "phrases": [{"text": "secret word"}]}
    assert (await house.here.instructor.post("/v1/moderation/lists", json=rules)).status_code == 201
    assert (await house.here.instructor.post("/v1/scenarios", json=hostile)).status_code == 201
    refused = await house.here.instructor.post(f"/v1/scenarios/{scenario}/versions", json=hostile)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid_request")
    assert refused.json()["errors"] == [{"field": "opening", "detail": "moderation stops it: banned_phrase"}]
    assert "s.e.c.r.e.t" not in refused.text
    assert (await house.here.instructor.get(f"/v1/scenarios/{scenario}")).json()["latest_version"] == 1
