"""Whatever is sent, within the description of the API and outside it: no fault of ours, and no answer that it hides.

The requests are made by schemathesis out of the description that the gateway serves; half of them go to things that
exist. They are the same in each run.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi import checks

from gateway.api.edge_headers import EXPOSED
from tests.integration.edge.conftest import Edge
from tests.support.access_table import written_table

EXAMPLES = 8
"""For each operation; more of them find no more, and take longer."""
CHECKS = [
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
HEADERS = {name.lower() for name in EXPOSED} | {
    *("allow", "cache-control", "connection", "content-length", "content-security-policy", "content-type", "date"),
    *("cross-origin-resource-policy", "openai-processing-ms", "referrer-policy", "strict-transport-security"),
    *("transfer-encoding", "vary", "www-authenticate", "x-accel-buffering", "x-content-type-options"),
}
"""Those of the answers; docs/https.md, docs/api.md, docs/limits.md and docs/openai.md say what they are."""
NOT_FOUND = "00000000-0000-4000-8000-000000000000"

Real = Mapping[str, str]


@pytest.fixture(scope="session")
def described(edge: Edge) -> schemathesis.BaseSchema:
    with edge.world.client() as client:
        return schemathesis.openapi.from_dict(client.get("/openapi.json").raise_for_status().json())


@pytest.fixture(scope="session")
def real(edge: Edge) -> Real:
    """The ids of things that exist. A replica is none of them, since draining the only one would end the rest."""
    with edge.world.client() as trainee, edge.world.client(edge.world.seed.keys.instructor) as instructor:
        flagged = {"text": "sesame oil", "action": "flag"}
        words = {"name": "words", "phrases": [flagged], "live": True}
        phrases = instructor.post("/v1/moderation/lists", json=words)
        session = edge.world.open_session(trainee)
        trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Sesame oil"}).raise_for_status()
        base = made(instructor, "/v1/knowledge-bases", name="prices")
        document = made(instructor, f"/v1/knowledge-bases/{base}/documents", name="list", text="A pump costs 48.")
        drill = made(
            instructor,
            "/v1/drills",
            name="class",
            scenario_id=edge.world.seed.scenarios[0].id,
            starts_at="2026-01-01T08:00:00Z",
            ends_at="2126-01-01T08:00:00Z",
            expected_trainees=9,
        )
        series = made(
            instructor,
            "/v1/drill-series",
            name="Mondays",
            scenario_id=edge.world.seed.scenarios[0].id,
            cron="0 9 * * MON",
            timezone="Europe/Berlin",
            minutes=45,
            count=2,
            expected_trainees=9,
        )
        return {
            "list_id": phrases.raise_for_status().json()["id"],
            "version": "1",
            "session_id": session,
            "drill_id": drill,
            "series_id": series,
            "turn": "1",
            "scenario_id": edge.world.seed.scenarios[0].id,
            "knowledge_base_id": base,
            "document_id": document,
            "model": "smollm2",
        }


def made(client: httpx.Client, path: str, **body: str | int) -> str:
    answer = client.post(path, json=body)
    answer.raise_for_status()
    identity: str = answer.json()["id"]
    return identity


@pytest.fixture(scope="module")
def line() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False
        yield session


@pytest.mark.timeout(400)
def test_every_answer_is_described(
    edge: Edge, described: schemathesis.BaseSchema, real: Real, line: requests.Session
) -> None:
    operations = [found.ok() for found in described.get_all_operations() if isinstance(found, Ok)]
    assert len(operations) > 30
    faults = [fault for operation in operations if (fault := tried(operation, edge, real, line)) is not None]
    assert not faults, "\n\n".join(faults)


def tried(operation: APIOperation[Any, Any, Any, Any], edge: Edge, real: Real, line: requests.Session) -> str | None:
    """What is wrong with the answers of one operation."""
    keys = keys_for(operation, edge)
    made = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=made, is_real=st.booleans(), key=st.sampled_from(keys))
    def one(case: schemathesis.Case[Any], key: str, *, is_real: bool) -> None:
        if is_real and case.method != "DELETE":
            case.path_parameters = {name: real.get(name, NOT_FOUND) for name in case.path_parameters or {}}
        answer = case.call(
            base_url=edge.url,
            session=line,
            headers={"Authorization": f"Bearer {key}"},
            timeout=30,
            verify=str(edge.authority_file),
        )
        assert answer.status_code < 500 or answer.status_code == 503, f"a fault of ours: {answer.status_code}"
        assert {name.lower() for name in answer.headers} <= HEADERS, answer.headers
        case.validate_response(answer, checks=CHECKS)

    try:
        one()
    except (AssertionError, BaseExceptionGroup) as error:
        return f"{operation.label}: {words(error)}"
    return None


def words(error: BaseException) -> str:
    """The reasons, without the frames between."""
    if isinstance(error, BaseExceptionGroup):
        return "\n".join(words(inner) for inner in error.exceptions)
    return f"{type(error).__name__}: {error}"


def keys_for(operation: APIOperation[Any, Any, Any, Any], edge: Edge) -> list[str]:
    """Those of the roles that may; where anybody may, any."""
    ours = edge.world.seed.keys
    keys = {
        "trainee": ours.trainees[0],
        "instructor": ours.instructor,
        "operator": ours.operator,
        "service": ours.service,
    }
    row = written_table().get((operation.method.upper(), operation.path))
    return [key for role, key in keys.items() if row is None or role in row.roles]
