"""Keys over HTTP, as the operators of a tenant hand them out."""

from typing import Any

import httpx
import pytest
from structlog.testing import capture_logs

from tests.integration.api.house import House


async def made(house: House, **body: Any) -> httpx.Response:
    return await house.here.operator.post("/v1/keys", json={"name": "kiosk", "role": "trainee", **body})


async def got(house: House, key: str, path: str = "/v1/sessions") -> httpx.Response:
    return await house.nobody.get(path, headers={"Authorization": f"Bearer {key}"})


async def listed(house: House) -> dict[str, dict[str, Any]]:
    answer = await house.here.operator.get("/v1/keys", params={"limit": 100})
    return {item["id"]: item for item in answer.json()["items"]}


async def test_a_key_is_shown_once_and_works(house: House) -> None:
    with capture_logs() as logged:
        answer = await made(house, label="hall 3", expires_in_s=3600)
    assert answer.status_code == 201, answer.text
    new = answer.json()
    assert new["key"].startswith(f"dy_{new['id']}_")
    assert (new["name"], new["role"], new["label"], new["state"], new["scopes"]) == (
        *("kiosk", "trainee", "hall 3", "live"),
        None,
    )
    assert new["expires_at"].endswith("Z")
    assert answer.headers["cache-control"] == "no-store"
    assert (await got(house, new["key"])).status_code == 200
    secret = new["key"].split("_", 2)[2]
    shown = await house.here.operator.get("/v1/keys", params={"limit": 100})
    assert secret not in shown.text + str(logged)
    assert new["id"] in await listed(house)


async def test_a_revoked_key_ends_and_is_revoked_once(house: House) -> None:
    new = (await made(house)).json()
    assert (await house.here.operator.delete(f"/v1/keys/{new['id']}")).status_code == 204
    assert (await got(house, new["key"])).status_code == 401
    again = await house.here.operator.delete(f"/v1/keys/{new['id']}")
    assert (again.status_code, again.json()["code"]) == (404, "key_not_found")
    assert (await listed(house))[new["id"]]["state"] == "revoked"


async def test_a_key_may_be_for_some_things_only(house: House) -> None:
    new = (await made(house, scopes=["read_sessions"])).json()
    assert new["scopes"] == ["read_sessions"]
    assert (await got(house, new["key"])).status_code == 200
    refused = await got(house, new["key"], "/v1/scenarios")
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
    assert refused.json()["action"] == "read scenarios"


async def test_an_account_has_two_keys_so_that_one_can_take_the_others_place(house: House) -> None:
    first, second = (await made(house)).json(), (await made(house)).json()
    assert first["account_id"] == second["account_id"]
    third = await made(house)
    assert (third.status_code, third.json()["code"], third.json()["limit"]) == (409, "too_many_keys", 2)
    await house.here.operator.delete(f"/v1/keys/{first['id']}")
    assert (await made(house)).status_code == 201


async def test_a_name_of_another_role_is_refused(house: House) -> None:
    await made(house)
    answer = await made(house, role="operator")
    assert (answer.status_code, answer.json()["code"]) == (409, "account_refused")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"role": "admin"}, "role"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["order_fleet"]}, "scopes"),
        ({"role": "operator", "scopes": ["manage_keys"]}, "scopes"),
        ({"expires_in_s": 5}, "expires_in_s"),
        ({"expires_in_s": 1e9}, "expires_in_s"),
        ({"tenant": "acme"}, "tenant"),
    ],
    ids=str,
)
async def test_what_cannot_be_made_is_refused_by_its_name(house: House, body: dict[str, Any], field: str) -> None:
    answer = await made(house, **body)
    assert answer.status_code == 422
    assert field in answer.text


async def test_keys_are_listed_in_pages(house: House) -> None:
    for number in range(4):
        await made(house, name=f"kiosk {number}")
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = (await house.here.operator.get("/v1/keys", params={"limit": 3, **cursor})).json()
        seen += [item["id"] for item in page["items"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert len(seen) == len(set(seen)) == 9
    assert set(seen) == set(await listed(house))
