"""The models that serve a tenant, over HTTP."""

from typing import Any

import httpx
import pytest

from router.domain.fleet import Health
from tests.integration.api.house import SCENARIO, House

PATH = "/v1/model-tiers"


def tier(answer: httpx.Response, name: str) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = next(each for each in answer.json()["tiers"] if each["tier"] == name)
    return found


async def test_at_first_the_default_model_serves_everything(house: House) -> None:
    answer = await house.here.instructor.get(PATH)
    assert [each["tier"] for each in answer.json()["tiers"]] == ["role_play", "faq", "scoring", "summary", "sensitive"]
    assert tier(answer, "role_play") == {
        "tier": "role_play",
        "model": "fake",
        "source": "default",
        "ready": True,
        "fallbacks": [],
        "serves": "fake",
        "fell_back": False,
    }
    assert answer.json()["pools"] == [
        {"model": "fake", "replicas": 1, "present": 1},
        {"model": "large", "replicas": 1, "present": 1},
    ]


async def test_an_operator_chooses_and_unchooses_for_the_own_tenant(house: House) -> None:
    answer = await house.here.operator.put(PATH, json={"role_play": "large", "faq": "large"})
    assert (tier(answer, "role_play")["model"], tier(answer, "role_play")["source"]) == ("large", "tenant")
    assert tier(answer, "role_play")["fallbacks"] == ["fake"]
    answer = await house.here.operator.put(PATH, json={"faq": None})
    assert (tier(answer, "faq")["source"], tier(answer, "role_play")["source"]) == ("default", "tenant")
    assert tier(await house.here.instructor.get(PATH), "role_play")["model"] == "large"
    assert tier(await house.elsewhere.operator.get(PATH), "role_play")["model"] == "fake"


async def test_the_fallback_in_force_is_told(house: House) -> None:
    await house.here.operator.put(PATH, json={"role_play": "large", "sensitive": "large"})
    house.fleet["large"] = Health.DOWN
    answer = await house.here.instructor.get(PATH)
    play, sensitive = tier(answer, "role_play"), tier(answer, "sensitive")
    assert (play["ready"], play["serves"], play["fell_back"]) == (False, "fake", True)
    assert (sensitive["ready"], sensitive["serves"], sensitive["fallbacks"]) == (False, None, [])
    assert answer.json()["pools"][1] == {"model": "large", "replicas": 1, "present": 0}


@pytest.mark.parametrize(
    ("body", "field"),
    [({"role_play": "huge"}, "role_play"), ({"poetry": "fake"}, "poetry"), ({"faq": 3}, "faq"), ({"faq": ""}, "faq")],
)
async def test_what_is_not_served_cannot_be_chosen(house: House, body: dict[str, Any], field: str) -> None:
    answer = await house.here.operator.put(PATH, json=body)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == field


async def test_only_staff_reads_and_only_operators_choose(house: House) -> None:
    people = house.here
    for one in (people.trainee, people.service):
        assert (await one.get(PATH)).status_code == 403
    for one in (people.trainee, people.service, people.instructor):
        assert (await one.put(PATH, json={})).status_code == 403


async def test_a_scenario_names_its_models_and_whether_it_is_sensitive(house: House) -> None:
    body = {**SCENARIO, "model_tiers": {"role_play": "large", "faq": None}, "sensitive": True}
    answer = await house.here.instructor.post("/v1/scenarios", json=body)
    assert answer.status_code == 201, answer.text
    assert (answer.json()["model_tiers"], answer.json()["sensitive"]) == ({"role_play": "large"}, True)
    plain = (await house.here.instructor.post("/v1/scenarios", json=SCENARIO)).json()
    assert (plain["model_tiers"], plain["sensitive"]) == ({}, False)
    for wrong, field in (({"role_play": "huge"}, "model_tiers.role_play"), ({"poetry": "x"}, "model_tiers.poetry")):
        answer = await house.here.instructor.post("/v1/scenarios", json={**SCENARIO, "model_tiers": wrong})
        assert answer.status_code == 422
        assert answer.json()["errors"][0]["field"] == field
