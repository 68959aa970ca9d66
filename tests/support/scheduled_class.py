"""A class in the calendar of a running service, and its trainees' turns, over HTTP."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx


@dataclass(frozen=True, slots=True)
class ScheduledClass:
    id: str
    scenario: str
    begins: datetime
    ends: datetime

    def bell_in_s(self) -> float:
        return (self.begins - datetime.now(UTC)).total_seconds()

    def wait_for_its_end(self) -> None:
        time.sleep(max(0.0, (self.ends - datetime.now(UTC)).total_seconds()))

    def session(self, trainee: httpx.Client) -> str:
        body = {"scenario_id": self.scenario, "drill_id": self.id}
        answer = trainee.post("/v1/sessions", json=body)
        assert answer.status_code == httpx.codes.CREATED, answer.text
        session: str = answer.json()["id"]
        return session

    def turn(self, trainee: httpx.Client, session: str) -> Mapping[str, Any]:
        """One whole turn, as the trainee gets it."""
        answer = trainee.post(
            f"/v1/sessions/{session}/turns", json={"text": "Hello?"}, headers={"Accept": "application/json"}
        )
        assert answer.is_success, answer.text
        told: Mapping[str, Any] = answer.json()
        return told


def scheduled(
    instructor: httpx.Client, ready: Mapping[str, Any], *, in_s: float, for_s: float, trainees: int
) -> ScheduledClass:
    """`ready` is what the ready file of the service says."""
    begins = datetime.now(UTC) + timedelta(seconds=in_s)
    ends = begins + timedelta(seconds=for_s)
    scenario = ready["scenarios"][0]["id"]
    body = {
        "name": "A class by the calendar",
        "scenario_id": scenario,
        "starts_at": begins.isoformat(),
        "ends_at": ends.isoformat(),
        "expected_trainees": trainees,
    }
    answer = instructor.post("/v1/drills", json=body)
    assert answer.status_code == httpx.codes.CREATED, answer.text
    return ScheduledClass(answer.json()["id"], scenario, begins, ends)


def caller(ready: Mapping[str, Any], role: str) -> httpx.Client:
    """Somebody who holds a key of that role; `ready` as above."""
    keys = ready["keys"]
    key = keys["trainees"][0] if role == "trainee" else keys[role]
    headers = {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=ready["base_url"], headers=headers, trust_env=False, timeout=60)
