"""The wall between tenants, tried on every route that the API describes about itself; a new route has to be listed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import httpx
import pytest
from typing_extensions import override

from gateway.api.app import ROUTERS
from router.domain.decision import Decision
from sessions.domain.viewer import TenantId
from tests.integration.api.house import DRILL, SCENARIO, House, People
from tests.support.access_table import written_table
from tests.support.shelved import shelved

# Who of the same tenant may call what, as docs/access.md says; everybody else gets a 403.
MAY = written_table()
OPEN_TO_ALL = {("GET", "/livez"), ("GET", "/readyz"), ("GET", "/metrics")}


@dataclass(frozen=True)
class Walled:
    """How a route is called, by whom, and which code hides a foreign resource; None for a list, which stays empty."""

    role: str
    code: str | None
    body: Mapping[str, Any] | str | None = None
    """JSON, or a table as it is."""
    missing: Mapping[str, str] = field(default_factory=dict)


SERIES = {
    "name": "Mondays",
    "scenario_id": "{scenario_id}",
    "cron": "0 9 * * MON",
    "timezone": "Europe/Berlin",
    "minutes": 45,
    "count": 2,
    "expected_trainees": 9,
}


class Unique(str):
    """Another name each time that it is written."""

    __slots__ = ()

    @override
    def __format__(self, _: str) -> str:
        return str(uuid4())


S, C, T = "session_not_found", "scenario_not_found", "turn_not_found"
D, A = "drill_not_found", "account_not_found"
K, J = "knowledge_base_not_found", "job_not_found"
L, N = "phrase_list_not_found", "series_not_found"

R = "review_not_found"

WALLS = {
    ("POST", "/v1/scenarios"): Walled("instructor", None, SCENARIO),
    ("GET", "/v1/scenarios"): Walled("instructor", None),
    ("GET", "/v1/scenarios/{scenario_id}"): Walled("instructor", C),
    ("POST", "/v1/scenarios/{scenario_id}/versions"): Walled("instructor", C, SCENARIO),
    ("POST", "/v1/drills"): Walled("instructor", C, DRILL),
    ("GET", "/v1/drills"): Walled("instructor", None),
    ("GET", "/v1/drills/{drill_id}"): Walled("instructor", D),
    ("PUT", "/v1/drills/{drill_id}"): Walled("instructor", D, DRILL),
    ("POST", "/v1/drills/{drill_id}/cancel"): Walled("instructor", D),
    ("POST", "/v1/drills/{drill_id}/archive"): Walled("instructor", D),
    ("POST", "/v1/drills/import"): Walled("instructor", None, "name,starts_at\n"),
    ("POST", "/v1/drill-series"): Walled("instructor", C, SERIES),
    ("GET", "/v1/drill-series/{series_id}"): Walled("instructor", N),
    ("POST", "/v1/drill-series/{series_id}/cancel"): Walled("instructor", N),
    ("GET", "/v1/limits"): Walled("operator", None),
    ("PUT", "/v1/limits"): Walled("operator", None, {"sessions": 1000}),
    ("DELETE", "/v1/limits"): Walled("operator", None),
    ("GET", "/v1/limits/accounts/{account_id}"): Walled("operator", A),
    ("PUT", "/v1/limits/accounts/{account_id}"): Walled("operator", A, {"turns_in_flight": 5}),
    ("DELETE", "/v1/limits/accounts/{account_id}"): Walled("operator", A),
    ("POST", "/v1/sessions"): Walled("trainee", C, {"scenario_id": "{scenario_id}"}),
    ("GET", "/v1/sessions"): Walled("instructor", None),
    ("GET", "/v1/sessions/{session_id}"): Walled("instructor", S),
    ("POST", "/v1/sessions/{session_id}/scene"): Walled("trainee", S, {"scene": "complaint"}),
    ("POST", "/v1/sessions/{session_id}/close"): Walled("trainee", S),
    ("GET", "/v1/sessions/{session_id}/context"): Walled("instructor", S),
    ("GET", "/v1/sessions/{session_id}/outline"): Walled("instructor", S),
    ("GET", "/v1/moderation/reviews"): Walled("instructor", None),
    ("GET", "/v1/moderation/reviews/{session_id}/{turn}"): Walled("instructor", R),
    ("POST", "/v1/moderation/reviews/{session_id}/{turn}/decision"): Walled("instructor", R, {"decision": "confirmed"}),
    ("POST", "/v1/sessions/{session_id}/turns"): Walled("trainee", S, {"text": "Hi"}),
    ("GET", "/v1/sessions/{session_id}/turns"): Walled("instructor", S),
    ("GET", "/v1/sessions/{session_id}/turns/{turn}"): Walled("instructor", S),
    ("GET", "/v1/sessions/{session_id}/turns/{turn}/events"): Walled("trainee", S),
    ("POST", "/v1/sessions/{session_id}/turns/{turn}/cancel"): Walled("trainee", S),
    ("POST", "/v1/sessions/{session_id}/turns/{turn}/ticket"): Walled("trainee", S),
    ("POST", "/v1/keys"): Walled("operator", None, {"name": "li.wei", "role": "trainee"}),
    ("GET", "/v1/keys"): Walled("operator", None),
    ("DELETE", "/v1/keys/{key_id}"): Walled("operator", "key_not_found"),
    ("POST", "/v1/knowledge-bases"): Walled("instructor", None, {"name": "Prices"}),
    ("GET", "/v1/knowledge-bases"): Walled("instructor", None),
    ("GET", "/v1/knowledge-bases/{knowledge_base_id}"): Walled("instructor", K),
    ("DELETE", "/v1/knowledge-bases/{knowledge_base_id}"): Walled("instructor", K),
    ("POST", "/v1/knowledge-bases/{knowledge_base_id}/documents"): Walled(
        "instructor", K, {"name": "prices", "text": "A pump costs 48 yuan."}
    ),
    ("GET", "/v1/knowledge-bases/{knowledge_base_id}/documents"): Walled("instructor", K),
    ("GET", "/v1/knowledge-bases/{knowledge_base_id}/documents/{document_id}"): Walled("instructor", K),
    ("DELETE", "/v1/knowledge-bases/{knowledge_base_id}/documents/{document_id}"): Walled("instructor", K),
    ("POST", "/v1/knowledge-bases/{knowledge_base_id}/answers"): Walled("instructor", K, {"questions": ["Why?"]}),
    ("GET", "/v1/jobs"): Walled("instructor", None),
    ("GET", "/v1/jobs/{job_id}"): Walled("service", J),
    ("POST", "/v1/jobs/{job_id}/cancel"): Walled("instructor", J),
    ("POST", "/v1/chat/completions"): Walled(
        "service", None, {"model": "fake", "messages": [{"role": "user", "content": "Hi"}]}
    ),
    ("GET", "/v1/models"): Walled("service", None),
    ("GET", "/v1/models/{model:path}"): Walled("service", None),
    ("POST", "/v1/moderation/lists"): Walled(
        "instructor", None, {"name": "{list_name}", "phrases": [{"text": "spam"}]}
    ),
    ("GET", "/v1/moderation/lists"): Walled("instructor", None),
    ("GET", "/v1/moderation/lists/{list_id}"): Walled("instructor", L),
    ("GET", "/v1/moderation/lists/{list_id}/versions/{version}"): Walled("instructor", L),
    ("POST", "/v1/moderation/lists/{list_id}/versions"): Walled("instructor", L, {"phrases": [{"text": "ham"}]}),
    ("PUT", "/v1/moderation/lists/{list_id}/live"): Walled("operator", L, {"version": 1}),
    ("DELETE", "/v1/moderation/lists/{list_id}"): Walled("operator", L),
    ("POST", "/v1/moderation/check"): Walled(
        "service", C, {"text": "Hi", "direction": "input", "scenario_id": "{scenario_id}"}
    ),
    ("POST", "/v1/moderation/dry-run"): Walled("instructor", L, {"list_id": "{list_id}", "recent_turns": 10}),
    ("GET", "/v1/moderation/settings"): Walled("instructor", None),
    ("PUT", "/v1/moderation/settings"): Walled("operator", None, {"mask": "[...]"}),
    ("GET", "/v1/moderation/audit"): Walled("instructor", None),
    ("POST", "/v1/moderations"): Walled("service", None, {"input": "Hi"}),
    ("GET", "/v1/model-tiers"): Walled("instructor", None),
    ("PUT", "/v1/model-tiers"): Walled("operator", None, {"faq": "large"}),
    # The fleet is one for all tenants; whose sessions run there stands nowhere in it.
    ("GET", "/v1/fleet"): Walled("operator", None),
    ("GET", "/v1/fleet/replicas/{replica_id}"): Walled("operator", None),
    ("POST", "/v1/fleet/replicas/{replica_id}/drain"): Walled("operator", None, {"within_s": 60}),
    ("DELETE", "/v1/fleet/replicas/{replica_id}/drain"): Walled("operator", None),
    ("GET", "/v1/fleet/plan"): Walled("operator", None),
    ("POST", "/v1/fleet/pools/{model:path}/scale"): Walled("operator", None, {"replicas": 1}),
    ("DELETE", "/v1/fleet/pools/{model:path}/scale"): Walled("operator", None),
    ("GET", "/v1/fleet/decisions/{turn_id}"): Walled("operator", "decision_not_found"),
}

ROUTES = sorted(
    (method, getattr(route, "path", ""))
    for routes in ROUTERS
    for route in routes.routes
    for method in getattr(route, "methods", ())
)
BEHIND_A_KEY = [route for route in ROUTES if route not in OPEN_TO_ALL]

every_route = pytest.mark.parametrize("route", BEHIND_A_KEY, ids=" ".join)


def test_every_route_stands_in_the_list() -> None:
    assert set(ROUTES) == set(WALLS) | OPEN_TO_ALL


async def call(
    who: httpx.AsyncClient, route: tuple[str, str], ids: Mapping[str, str], body: Mapping[str, Any] | str | None
) -> httpx.Response:
    path = route[1].replace(":path", "").format(**ids)
    if isinstance(body, str):
        return await who.request(route[0], path, content=body, headers={"Content-Type": "text/csv"})
    sent = None
    if body is not None:
        sent = {name: value.format(**ids) if isinstance(value, str) else value for name, value in body.items()}
    return await who.request(route[0], path, json=sent)


def code_of(answer: httpx.Response) -> str:
    """Of a problem, or of an error as OpenAI has it."""
    told = answer.json()
    return str(told.get("error", told)["code"])


async def furnished(house: House, people: People) -> dict[str, str]:
    """The ids of one of each thing of these people, and of a replica of the fleet."""
    flagging = {"name": "words", "phrases": [{"text": "private", "action": "flag"}], "live": True}
    phrases = await people.instructor.post("/v1/moderation/lists", json=flagging)
    session = await house.session(people)
    await people.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Something private"})
    found = (await people.trainee.get(f"/v1/sessions/{session}")).json()
    turn = f"{session}-1"
    house.desk.decisions[turn] = Decision(turn, "smollm2", at=0.0)
    base, document = await shelved(house.shelf, TenantId(people.tenant))
    asked = await people.service.post(f"/v1/knowledge-bases/{base.id}/answers", json={"questions": ["Why?"]})
    drill = await people.instructor.post("/v1/drills", json={**DRILL, "scenario_id": found["scenario_id"]})
    series = await people.instructor.post("/v1/drill-series", json={**SERIES, "scenario_id": found["scenario_id"]})
    return {
        "series_id": series.json()["id"],
        "list_id": phrases.json()["id"],
        "list_name": Unique(),
        "version": "1",
        "drill_id": drill.json()["id"],
        "account_id": found["trainee_id"],
        "knowledge_base_id": str(base.id),
        "document_id": str(document.id),
        "job_id": asked.json()["id"],
        "scenario_id": found["scenario_id"],
        "session_id": session,
        "turn": "1",
        "turn_id": turn,
        "replica_id": house.desk.known[0].id,
        "model": "fake",
        "key_id": (await people.operator.post("/v1/keys", json={"name": "spare", "role": "trainee"})).json()["id"],
    }


@every_route
async def test_another_tenant_sees_nothing_and_each_role_may_do_what_is_its_own(
    house: House, route: tuple[str, str]
) -> None:
    ids = await furnished(house, house.here)
    await _nothing_is_seen_from_elsewhere(house, route, ids)
    await _each_role_may_do_what_is_its_own(house, route, ids)


async def _nothing_is_seen_from_elsewhere(house: House, route: tuple[str, str], ids: Mapping[str, str]) -> None:
    wall = WALLS[route]
    nobody = str(house.here.tenant)
    hidden = dict.fromkeys(
        (
            "scenario_id",
            "session_id",
            "knowledge_base_id",
            "job_id",
            "key_id",
            "drill_id",
            "account_id",
            "list_id",
            "series_id",
        ),
        nobody,
    )
    nowhere = {**ids, **hidden, "turn_id": f"{nobody}-1"}
    stranger = getattr(house.elsewhere, wall.role)
    foreign = await call(stranger, route, ids, wall.body)
    if wall.code is None:
        assert foreign.is_success
        assert not foreign.json().get("items") or route == ("GET", "/v1/keys")  # whoever asks has a key
        assert ids["key_id"] not in foreign.text
        assert ids["session_id"] not in foreign.text
        assert ids["scenario_id"] not in foreign.text
        return
    missing = await call(stranger, route, nowhere, wall.body)
    assert (foreign.status_code, code_of(foreign)) == (404, wall.code)
    assert foreign.content == missing.content


async def _each_role_may_do_what_is_its_own(house: House, route: tuple[str, str], ids: Mapping[str, str]) -> None:
    """With the very ids that were nothing elsewhere."""
    for role in ("service", "operator", "instructor", "trainee"):
        answer = await call(getattr(house.here, role), route, ids, WALLS[route].body)
        if role in MAY[route].roles:
            assert answer.is_success, (role, answer.text)
        else:
            assert (answer.status_code, code_of(answer)) == (403, "forbidden"), role


async def test_another_trainee_sees_nothing_of_a_session(house: House) -> None:
    ids = await furnished(house, house.here)
    for route in BEHIND_A_KEY:
        if WALLS[route].code == S and "trainee" in MAY[route].roles:
            answer = await call(house.here.other_trainee, route, ids, WALLS[route].body)
            assert (answer.status_code, code_of(answer)) == (404, S), route


async def test_without_a_key_nothing_is_told(house: House) -> None:
    ids = await furnished(house, house.here)
    for route in BEHIND_A_KEY:
        answer = await call(house.nobody, route, ids, WALLS[route].body)
        assert (answer.status_code, code_of(answer)) == (401, "unauthenticated"), route
