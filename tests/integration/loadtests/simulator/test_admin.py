"""The simulator's own routes."""

import pytest

from tests.support.simulator_process import SimulatorProcess, chat, streamed, text_of


def test_the_state_tells_phase_profile_and_load(replica: SimulatorProcess) -> None:
    state = replica.state()
    assert (state["phase"], state["profile"], state["running"]) == ("ready", "cpu-smollm2", 0)
    assert state["provenance"]


def test_a_script_can_be_replaced_and_forgotten(replica: SimulatorProcess) -> None:
    before = text_of(streamed(replica, chat()))
    replica.script("Scripted.")
    assert text_of(streamed(replica, chat())) == "Scripted."
    assert replica.admin.delete("/sim/script").status_code == 204
    assert text_of(streamed(replica, chat())) == before


def test_a_script_brings_its_faults(replica: SimulatorProcess) -> None:
    script = {"faults": [{"kind": "refuse", "times": 1, "status": 500}]}
    assert replica.client.put("/sim/script", json=script).status_code == 204
    assert replica.client.post("/v1/chat/completions", json=chat()).status_code == 500
    assert replica.client.post("/v1/chat/completions", json=chat()).status_code == 200


@pytest.mark.parametrize(
    "script",
    ['{"replies": [{"replies": []}]}', '{"replies": [{"replies": [{}]}]}', '{"unknown": 1}', "not json"],
)
def test_a_script_that_cannot_be_read_is_refused(replica: SimulatorProcess, script: str) -> None:
    answer = replica.admin.put("/sim/script", content=script)
    assert answer.status_code == 422
    assert answer.json()["detail"]


@pytest.mark.parametrize("fault", ['{"kind": "unheard_of"}', '{"kind": "cut", "times": -1}', "{}"])
def test_a_fault_that_is_none_is_refused(replica: SimulatorProcess, fault: str) -> None:
    assert replica.admin.post("/sim/faults", content=fault).status_code == 422


def test_requests_are_remembered_until_they_are_forgotten(replica: SimulatorProcess) -> None:
    replica.client.post("/v1/chat/completions", json=chat("Remember me"), headers={"Authorization": "Bearer x"})
    (record,) = replica.requests()
    assert "Remember me" in record["body"]
    assert "authorization" not in record["headers"]
    assert replica.admin.delete("/sim/requests").status_code == 204
    assert replica.requests() == []


def test_a_reset_forgets_everything(replica: SimulatorProcess) -> None:
    replica.script("Scripted.")
    replica.fault(kind="cut", times=0)
    replica.client.post("/v1/chat/completions", json=chat("word " * 100))
    answer = replica.admin.post("/sim/reset")
    assert answer.json() == {"cache_is_empty": True}
    assert (replica.requests(), replica.admin.get("/sim/faults").json()) == ([], [])
    again = replica.client.post("/v1/chat/completions", json=chat("word " * 100)).json()
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
