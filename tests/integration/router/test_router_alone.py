"""`drillyard router` over real HTTP before simulated replicas, as an OpenAI client sees it."""

import json
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.router_process import RouterProcess
from tests.support.simulator_process import SimulatorProcess, chat, events, simulator, text_of

CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"
SIMULATED = ("--speed-up", "50", "--enable-prompt-tokens-details")
GREEDY: dict[str, Any] = {"temperature": 0, "max_tokens": 60}


@pytest.fixture(scope="module")
def replicas() -> Iterator[dict[str, SimulatorProcess]]:
    with simulator(*SIMULATED) as a, simulator(*SIMULATED) as b:
        yield {"a": a, "b": b}


@pytest.fixture(scope="module")
def router(replicas: dict[str, SimulatorProcess], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RouterProcess]:
    named = [word for name, each in replicas.items() for word in ("--replica", f"{name}={each.url}")]
    with RouterProcess(*named, log=tmp_path_factory.mktemp("router") / "log") as running:
        yield running


@pytest.fixture
def client(router: RouterProcess) -> Iterator[httpx.Client]:
    with router.client() as client:
        yield client


def until(is_so: Callable[[], bool], *, within_s: float = 10.0) -> None:
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def placed(answer: httpx.Response) -> tuple[str, str]:
    assert answer.status_code == httpx.codes.OK, answer.text
    return answer.headers["x-replica-id"], answer.headers["x-session-pin"]


def test_a_session_is_one_on_both_paths_and_however_it_is_named(client: httpx.Client) -> None:
    by_header = {"X-Session-ID": "both"}
    home, pin = placed(client.post(CHAT, json=chat(**GREEDY), headers=by_header))
    assert pin == "new"
    prompt = {"model": "smollm2", "prompt": "Once", **GREEDY}
    for answer in (
        client.post(CHAT, json=chat(**GREEDY, user="both")),
        client.post(CHAT, json=chat(**GREEDY), headers={"Cookie": "drillyard_session=both"}),
        client.post(COMPLETIONS, json=prompt, headers={**by_header, "X-Request-ID": "first"}),
        client.post(COMPLETIONS, json=prompt, headers={**by_header, "X-Request-ID": "second"}),
        client.post(CHAT, json=chat(**GREEDY, stream=True), headers=by_header),
    ):
        assert placed(answer) == (home, "kept")
    (pinned,) = client.get("/sessions/both").json()["pins"]
    assert pinned == {"model": "smollm2", "replica": home, "generation": 1}


def test_a_lost_key_is_visible_and_counted(client: httpx.Client) -> None:
    before = unpinned(client)
    assert placed(client.post(CHAT, json=chat(**GREEDY)))[1] == "none"
    assert unpinned(client) == before + 1


def unpinned(client: httpx.Client) -> float:
    lines = client.get("/metrics").text.splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("drillyard_router_unpinned_total ")))


def test_the_router_cannot_be_told_from_a_replica(client: httpx.Client, replicas: dict[str, SimulatorProcess]) -> None:
    body = chat("Tell me a story.", **GREEDY)
    direct = replicas["a"].client.post(CHAT, json=body).json()
    routed = client.post(CHAT, json=body).json()
    assert routed["choices"] == direct["choices"]
    assert routed["usage"]["completion_tokens"] == direct["usage"]["completion_tokens"]
    with client.stream("POST", CHAT, json={**body, "stream": True, "stream_options": {"include_usage": True}}) as reply:
        assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
        said = list(events(reply.iter_lines()))
    assert text_of(said) == direct["choices"][0]["message"]["content"]
    assert said[-1] == "[DONE]"
    assert json.loads(said[-2])["usage"]["completion_tokens"] == direct["usage"]["completion_tokens"]


def test_models_are_listed_in_openais_shape(client: httpx.Client) -> None:
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == ["smollm2"]
    assert client.get("/v1/models/smollm2").json()["object"] == "model"
    assert client.get("/v1/models/other").status_code == 404


def test_what_cannot_be_served_is_told_in_openais_shape(client: httpx.Client) -> None:
    for answer, status, code in (
        (client.post(CHAT, content=b"{", headers={"Content-Type": "application/json"}), 400, "invalid_request"),
        (client.post(CHAT, content=b"{}"), 415, "unsupported_media_type"),
        (client.post(CHAT, json={**chat(), "model": "other"}), 404, "model_not_found"),
        (client.post(CHAT, json=chat(), headers={"X-Session-ID": "x" * 257}), 400, "invalid_request"),
        (client.get(CHAT), 405, "method_not_allowed"),
        (client.get("/nowhere"), 404, "not_found"),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert client.head("/livez").status_code == 200


def test_the_engines_own_refusal_comes_through(client: httpx.Client, replicas: dict[str, SimulatorProcess]) -> None:
    wrong = {**chat(), "max_tokens": -1}
    direct = replicas["a"].client.post(CHAT, json=wrong)
    routed = client.post(CHAT, json=wrong)
    assert routed.status_code == direct.status_code == 400
    assert routed.json()["error"]["message"] == direct.json()["error"]["message"]


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_leaves_the_engine_idle(
    router: RouterProcess, replicas: dict[str, SimulatorProcess], *, stream: bool
) -> None:
    body = chat("A long one.", max_tokens=3000, ignore_eos=True, stream=stream)
    wait = httpx.Timeout(30.0, read=30.0 if stream else 0.3)
    with httpx.Client(base_url=router.url, trust_env=False, timeout=wait) as client:
        if stream:
            with client.stream("POST", CHAT, json=body) as reply:
                pieces = reply.iter_raw()  # kept, since one that is dropped closes the reply
                next(pieces)
                until(lambda: running(replicas) == 1)
        else:
            with pytest.raises(httpx.ReadTimeout):
                client.post(CHAT, json=body)
    until(lambda: running(replicas) == 0, within_s=2.0)


def running(replicas: dict[str, SimulatorProcess]) -> int:
    return sum(each.state()["running"] + each.state()["waiting"] for each in replicas.values())


def test_a_decision_is_explained_by_the_requests_id(client: httpx.Client) -> None:
    answer = client.post(CHAT, json=chat(**GREEDY), headers={"X-Session-ID": "why", "X-Request-ID": "turn-why"})
    home, _ = placed(answer)
    assert answer.headers["x-request-id"] == "turn-why"
    found = client.get("/decisions/turn-why").json()
    assert (found["pin"], [attempt["replica"] for attempt in found["attempts"]]) == ("new", [home])
    assert found["attempts"][0]["outcome"] == "completed"


def test_a_drained_replica_keeps_no_session_and_may_then_be_removed(
    client: httpx.Client, replicas: dict[str, SimulatorProcess]
) -> None:
    with simulator(*SIMULATED) as extra:
        assert client.post("/replicas", json={"id": "extra", "url": extra.url}).status_code == 201
        until(lambda: client.get("/replicas/extra").json().get("health") == "ready")
        prefer = {"X-Session-ID": "moving", "X-Prefer-Replica": "extra"}
        assert placed(client.post(CHAT, json=chat(**GREEDY), headers=prefer)) == ("extra", "new")
        assert client.delete("/replicas/extra").status_code == 409
        assert client.post("/replicas/extra/drain", json={"within_s": 20}).status_code == 202
        until(lambda: bool(client.get("/replicas/extra").json()["drain"]["may_stop"]))
        assert client.delete("/replicas/extra").status_code == 204
        until(lambda: client.get("/replicas/extra").status_code == 404)
    home, pin = placed(client.post(CHAT, json=chat(**GREEDY), headers={"X-Session-ID": "moving"}))
    assert home in replicas
    assert pin == "kept"  # it moved between the turns
    assert client.get("/sessions/moving").json()["pins"][0]["generation"] == 2


def test_a_session_ends_when_it_is_told_to(client: httpx.Client) -> None:
    headers = {"X-Session-ID": "ending"}
    placed(client.post(CHAT, json=chat(**GREEDY), headers=headers))
    assert client.delete("/sessions/ending").status_code == 204
    assert placed(client.post(CHAT, json=chat(**GREEDY), headers=headers))[1] == "new"


def test_a_prompt_is_warmed_where_its_session_is(client: httpx.Client, replicas: dict[str, SimulatorProcess]) -> None:
    headers = {"X-Session-ID": "warming"}
    home, _ = placed(client.post(CHAT, json=chat(**GREEDY), headers=headers))
    story = chat("Once upon a time there was a shop. " * 40, **GREEDY)
    assert client.post("/sessions/warming/prewarm", json=story).json() == {"scheduled": True}
    told = replicas[home]
    until(lambda: any(str(seen).count("prewarm") for seen in told.requests()))
    usage = client.post(CHAT, json=story, headers=headers).json()["usage"]
    assert usage["prompt_tokens_details"]["cached_tokens"] > usage["prompt_tokens"] * 0.8


def test_pools_never_cross_and_a_fleet_file_is_followed(tmp_path: Path, replicas: dict[str, SimulatorProcess]) -> None:
    listed = tmp_path / "fleet.json"
    listed.write_text(json.dumps([{"id": "a", "url": replicas["a"].url}]))
    with (
        simulator(*SIMULATED, "--served-model-name", "other") as other,
        RouterProcess("--fleet-file", str(listed), log=tmp_path / "log") as router,
        router.client() as client,
    ):
        assert [model["id"] for model in client.get("/v1/models").json()["data"]] == ["smollm2"]
        listed.write_text(json.dumps([{"id": "a", "url": replicas["a"].url}, {"id": "o", "url": other.url}]))
        until(lambda: len(client.get("/v1/models").json()["data"]) == 2)
        until(lambda: client.get("/replicas/o").json()["health"] == "ready")
        headers = {"X-Session-ID": "one"}
        for model, home in (("smollm2", "a"), ("other", "o"), ("smollm2", "a")):
            assert placed(client.post(CHAT, json={**chat(**GREEDY), "model": model}, headers=headers))[0] == home
        assert len(client.get("/sessions/one").json()["pins"]) == 2
        listed.write_text("[{")  # half written
        assert placed(client.post(CHAT, json={**chat(**GREEDY), "model": "other"}, headers=headers))[0] == "o"


def test_a_reply_that_runs_ends_before_the_process_does(tmp_path: Path, replicas: dict[str, SimulatorProcess]) -> None:
    router = RouterProcess("--replica", f"a={replicas['a'].url}", log=tmp_path / "log")
    with router, router.client() as client:
        body = chat("A long one.", temperature=0, max_tokens=500, ignore_eos=True, stream=True)
        with client.stream("POST", CHAT, json=body) as reply:
            lines = reply.iter_lines()
            next(lines)
            router.send(signal.SIGTERM)
            assert list(events(lines))[-1] == "[DONE]"
        assert router.wait() == 0
    assert "Traceback" not in (tmp_path / "log").read_text()
