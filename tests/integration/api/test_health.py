from gateway.services import Check
from tests.integration.api.house import House


async def test_a_living_process_says_so_even_when_it_is_not_ready(house: House) -> None:
    house.checks["postgres"] = Check(ok=False, detail="connection refused")
    answer = await house.nobody.get("/livez")
    assert (answer.status_code, answer.json()["status"]) == (200, "ok")


async def test_a_process_is_told_from_another_by_its_instance(house: House) -> None:
    first, second = [(await house.nobody.get("/livez")).json()["instance"] for _ in range(2)]
    assert first == second != ""


async def test_readiness_names_what_is_wrong(house: House) -> None:
    ready = await house.nobody.get("/readyz")
    assert (ready.status_code, ready.json()["ready"]) == (200, True)
    house.checks["redis"] = Check(ok=False, detail="connection refused")
    answer = await house.nobody.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {
        "ready": False,
        "checks": {
            "postgres": {"ok": True, "detail": "answers"},
            "redis": {"ok": False, "detail": "connection refused"},
        },
    }


async def test_metrics_count_requests_by_template_and_turns_by_their_end(house: House) -> None:
    session = await house.session()
    await house.here.trainee.post(f"/v1/sessions/{session}/turns", json={"text": "Hi"})
    for path in ("/a", "/b", f"/v1/sessions/{session}/nothing"):
        await house.nobody.get(path)
    answer = await house.nobody.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    lines = answer.text.splitlines()
    route = 'method="POST",route="/v1/sessions/{session_id}/turns",status="200"'
    assert f"drillyard_http_requests_total{{{route}}} 1.0" in lines
    assert 'drillyard_http_requests_total{method="GET",route="unmatched",status="404"} 3.0' in lines
    assert 'drillyard_turns_total{state="completed"} 1.0' in lines
    assert session not in answer.text
