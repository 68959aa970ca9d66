"""The description that the API gives of itself is true: what it answers fits the schemas it names."""

from typing import Any

import httpx
from jsonschema import Draft202012Validator

from tests.integration.api.house import SCENARIO, House

DOCUMENT = "/v1/knowledge-bases/{knowledge_base_id}/documents/{document_id}"
CHAT = {"model": "fake", "messages": [{"role": "user", "content": "Hi"}]}
TEXT = {"name": "prices", "text": "A pump costs 48 yuan."}


def validator(document: dict[str, Any], schema: dict[str, Any]) -> Draft202012Validator:
    return Draft202012Validator({**schema, "components": document["components"]})


def check(document: dict[str, Any], path: str, answer: httpx.Response) -> None:
    operation = document["paths"][path][answer.request.method.lower()]
    media_type = answer.headers["content-type"].partition(";")[0]
    schema = operation["responses"][str(answer.status_code)]["content"][media_type]["schema"]
    validator(document, schema).validate(answer.json())


TABLE = {"Content-Type": "text/csv"}
SERIES = {
    **{"name": "Mondays", "scenario_id": "none", "cron": "0 9 * * MON", "timezone": "UTC", "minutes": 45},
    **{"count": 2, "expected_trainees": 9},
}


async def document_of(instructor: httpx.AsyncClient, base: str) -> str:
    """Where its one document is."""
    listed = (await instructor.get(f"{base}/documents")).json()
    return f"{base}/documents/{listed['items'][0]['id']}"


async def test_answers_and_problems_fit_their_schemas(house: House) -> None:
    document = (await house.nobody.get("/openapi.json")).json()
    trainee, instructor, operator = house.here.trainee, house.here.instructor, house.here.operator
    session = await house.session()
    scenario = (await trainee.get(f"/v1/sessions/{session}")).json()["scenario_id"]
    at = f"/v1/sessions/{session}"
    base = (await instructor.post("/v1/knowledge-bases", json={"name": "b"})).headers["location"]
    calls: list[tuple[str, httpx.Response]] = [
        ("/v1/scenarios", await instructor.post("/v1/scenarios", json=SCENARIO)),
        ("/v1/scenarios", await instructor.post("/v1/scenarios", json={})),
        ("/v1/scenarios", await trainee.post("/v1/scenarios", json={})),
        ("/v1/scenarios", await trainee.get("/v1/scenarios?limit=1")),
        ("/v1/scenarios/{scenario_id}", await trainee.get(f"/v1/scenarios/{scenario}")),
        ("/v1/scenarios/{scenario_id}/versions", await instructor.post(f"/v1/scenarios/{scenario}/versions")),
        ("/v1/sessions", await trainee.get("/v1/sessions")),
        ("/v1/sessions", await trainee.post("/v1/sessions", json={"scenario_id": scenario})),
        ("/v1/sessions/{session_id}", await trainee.get("/v1/sessions/x")),
        ("/v1/sessions/{session_id}", await trainee.get(at)),
        ("/v1/sessions/{session_id}/turns", await trainee.post(f"{at}/turns", json={"text": "Hi"})),
        ("/v1/sessions/{session_id}/turns", await trainee.get(f"{at}/turns")),
        ("/v1/sessions/{session_id}/turns/{turn}", await trainee.get(f"{at}/turns/1")),
        ("/v1/sessions/{session_id}/turns/{turn}/cancel", await trainee.post(f"{at}/turns/1/cancel")),
        ("/v1/sessions/{session_id}/context", await instructor.get(f"{at}/context")),
        ("/v1/sessions/{session_id}/scene", await trainee.post(f"{at}/scene", json={"scene": "agreement"})),
        ("/v1/sessions/{session_id}/scene", await trainee.post(f"{at}/scene", json={"scene": "revenge"})),
        ("/v1/sessions/{session_id}/close", await trainee.post(f"{at}/close")),
        ("/v1/sessions/{session_id}/turns", await trainee.post(f"{at}/turns", json={"text": "Hi"})),
        ("/v1/knowledge-bases", await instructor.post("/v1/knowledge-bases", json={"name": "a"})),
        ("/v1/knowledge-bases", await instructor.post("/v1/knowledge-bases", json={"name": "a"})),
        ("/v1/knowledge-bases", await instructor.get("/v1/knowledge-bases")),
        ("/v1/knowledge-bases/{knowledge_base_id}", await instructor.get(base)),
        ("/v1/knowledge-bases/{knowledge_base_id}/documents", await instructor.post(f"{base}/documents", json=TEXT)),
        ("/v1/knowledge-bases/{knowledge_base_id}/documents", await instructor.post(f"{base}/documents", json=TEXT)),
        ("/v1/knowledge-bases/{knowledge_base_id}/documents", await instructor.get(f"{base}/documents")),
        (DOCUMENT, await instructor.get(f"{base}/documents/none")),
        (DOCUMENT, await instructor.get(await document_of(instructor, base))),
        ("/v1/drill-series", await instructor.post("/v1/drill-series", json={**SERIES, "scenario_id": scenario})),
        ("/v1/drill-series", await instructor.post("/v1/drill-series", json=SERIES)),
        ("/v1/drills/import", await instructor.post("/v1/drills/import", content="", headers=TABLE)),
        ("/v1/drills/import", await instructor.post("/v1/drills/import", content="name,starts_at\n", headers=TABLE)),
        ("/v1/drills", await instructor.get("/v1/drills?from=2026-01-01T00:00:00Z")),
        ("/v1/fleet", await operator.get("/v1/fleet")),
        ("/v1/fleet/replicas/{replica_id}", await operator.get("/v1/fleet/replicas/replica-1")),
        ("/v1/fleet/replicas/{replica_id}", await operator.get("/v1/fleet/replicas/none")),
        ("/v1/fleet/replicas/{replica_id}/drain", await operator.post("/v1/fleet/replicas/replica-1/drain")),
        ("/v1/fleet/replicas/{replica_id}/drain", await operator.delete("/v1/fleet/replicas/replica-1/drain")),
        ("/v1/fleet/decisions/{turn_id}", await operator.get("/v1/fleet/decisions/none")),
        ("/v1/fleet/plan", await operator.get("/v1/fleet/plan?hours=24")),
        ("/v1/fleet/plan", await operator.get("/v1/fleet/plan?hours=0")),
        ("/v1/fleet/pools/{model}/scale", await operator.post("/v1/fleet/pools/fake/scale", json={"replicas": 1})),
        ("/v1/fleet/pools/{model}/scale", await operator.post("/v1/fleet/pools/none/scale", json={"replicas": 1})),
        ("/v1/fleet/pools/{model}/scale", await operator.delete("/v1/fleet/pools/fake/scale")),
        ("/v1/models", await instructor.get("/v1/models")),
        ("/v1/models", await operator.get("/v1/models")),
        ("/v1/models/{model}", await instructor.get("/v1/models/fake")),
        ("/v1/models/{model}", await instructor.get("/v1/models/none")),
        ("/v1/chat/completions", await instructor.post("/v1/chat/completions", json=CHAT)),
        ("/v1/chat/completions", await instructor.post("/v1/chat/completions", json={**CHAT, "n": 2})),
        ("/v1/model-tiers", await operator.get("/v1/model-tiers")),
        ("/v1/model-tiers", await operator.put("/v1/model-tiers", json={"faq": "large"})),
        ("/v1/model-tiers", await operator.put("/v1/model-tiers", json={"faq": "huge"})),
        ("/readyz", await house.nobody.get("/readyz")),
        ("/livez", await house.nobody.get("/livez")),
    ]
    for path, answer in calls:
        check(document, path, answer)


async def test_bodies_are_described_as_they_are_taken(house: House) -> None:
    document = (await house.nobody.get("/openapi.json")).json()
    schema = document["paths"]["/v1/scenarios"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    body = validator(document, schema)
    body.validate(SCENARIO)
    assert not body.is_valid({**SCENARIO, "surplus": 1})
    assert not body.is_valid({})


async def test_every_reference_leads_somewhere_and_every_walled_route_asks_for_a_key(house: House) -> None:
    document = (await house.nobody.get("/openapi.json")).json()
    names = set(document["components"]["schemas"])
    assert {reference.rsplit("/", 1)[1] for reference in references(document)} <= names
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert ("security" in operation) == path.startswith("/v1/")


def references(node: object) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*(references(value) for value in node.values()))
    if isinstance(node, list):
        return set().union(*(references(value) for value in node))
    return set()
