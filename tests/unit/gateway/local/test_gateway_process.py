import json
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.local.bundled_model import Model
from gateway.local.errors import LocalStackError, PortTaken
from gateway.local.gateway_process import (
    ReplicaAddress,
    Wanted,
    base_url,
    chosen_port,
    gateway_environment,
    gateway_service,
    migration,
    replicas_of,
)

WANTED = Wanted(
    redis_url="redis://r",
    database_url="postgresql+psycopg://d",
    host="127.0.0.1",
    port=8080,
    instance="me",
    window_tokens=4096,
    model=Model(folder=Path("/m"), name="small"),
    replicas=(ReplicaAddress(id="replica-1", url="http://127.0.0.1:1"),),
)


def test_the_gateway_is_told_everything_by_its_environment() -> None:
    environment = gateway_environment(WANTED, {"DRILLYARD_ROUTER__PIN_TTL_S": "5", "HOME": "/h"})
    assert json.loads(environment["DRILLYARD_REPLICAS"]) == [{"id": "replica-1", "url": "http://127.0.0.1:1"}]
    assert {name: value for name, value in environment.items() if name != "DRILLYARD_REPLICAS"} == {
        "HOME": "/h",
        "DRILLYARD_ROUTER__PIN_TTL_S": "5",
        "DRILLYARD_REDIS_URL": "redis://r",
        "DRILLYARD_DATABASE_URL": "postgresql+psycopg://d",
        "DRILLYARD_HOST": "127.0.0.1",
        "DRILLYARD_PORT": "8080",
        "DRILLYARD_INSTANCE": "me",
        "DRILLYARD_MODEL__NAME": "small",
        "DRILLYARD_MODEL__FOLDER": "/m",
        "DRILLYARD_MODEL__WINDOW_TOKENS": "4096",
        "DRILLYARD_ROUTER__ENGINE_PRIORITY": "true",
    }


def test_what_is_not_started_here_stays_as_the_caller_named_it() -> None:
    wanted = replace(WANTED, model=None, replicas=())
    caller = {"DRILLYARD_REPLICAS": '[{"id": "a", "url": "http://a"}]', "DRILLYARD_MODEL__NAME": "theirs"}
    environment = gateway_environment(wanted, caller)
    assert environment["DRILLYARD_REPLICAS"] == caller["DRILLYARD_REPLICAS"]
    assert environment["DRILLYARD_MODEL__NAME"] == "theirs"
    assert environment.keys() & {"DRILLYARD_MODEL__WINDOW_TOKENS", "DRILLYARD_ROUTER__ENGINE_PRIORITY"} == set()
    assert replicas_of(environment) == (ReplicaAddress(id="a", url="http://a"),)


@pytest.mark.parametrize("text", ["", "{", "3", '[{"id": "a"}]', '["a"]'])
def test_replicas_that_cannot_be_read_are_left_to_the_settings_to_refuse(text: str) -> None:
    assert replicas_of({"DRILLYARD_REPLICAS": text}) == ()


@pytest.mark.parametrize(
    ("host", "url"),
    [
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("0.0.0.0", "http://127.0.0.1:80"),  # noqa: S104  an address to show, nothing is bound
        ("::", "http://[::1]:80"),
        ("::1", "http://[::1]:80"),
        ("localhost", "http://localhost:80"),
    ],
)
def test_the_address_is_one_that_can_be_called(host: str, url: str) -> None:
    assert base_url(host, 80, {}) == url


def test_with_a_certificate_in_the_environment_it_is_an_address_of_https() -> None:
    assert base_url("127.0.0.1", 80, {"DRILLYARD_TLS__CERTIFICATE": "/c.pem"}) == "https://127.0.0.1:80"
    assert base_url("127.0.0.1", 80, {"DRILLYARD_TLS__CERTIFICATE": ""}) == "http://127.0.0.1:80"


def test_a_taken_port_that_was_asked_for_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(PortTaken, match=f"port {port} on 127") as told:
            chosen_port("127.0.0.1", port, say=pytest.fail)
    assert "--port" in told.value.hint
    assert chosen_port("127.0.0.1", port, say=pytest.fail) == port


def test_any_free_port_will_do_for_zero() -> None:
    assert chosen_port("127.0.0.1", 0, say=pytest.fail) > 0


def test_the_usual_port_gives_way_when_nobody_insisted(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        usual = listener.getsockname()[1]
        monkeypatch.setattr("gateway.local.gateway_process.USUAL_PORT", usual)
        port = chosen_port("127.0.0.1", None, say=said.append)
    assert port not in {0, usual}
    assert said == [f"port {usual} is taken; using {port}"]
    assert chosen_port("127.0.0.1", None, say=pytest.fail) == usual


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(LocalStackError, match=r"cannot listen on 203\.0\.113\.7"):
        chosen_port("203.0.113.7", 8080, say=pytest.fail)


def test_migrations_and_service_run_the_same_program(tmp_path: Path) -> None:
    migrate = migration("m", {}, log=tmp_path / "migrate.log")
    service = gateway_service("m", replace(WANTED, port=1), {}, log=tmp_path / "gateway.log", has_replicas=True)
    assert migrate.argv[2:] == ("m", "db", "migrate")
    assert service.command.argv[2:] == ("m", "serve")
    assert (service.waiting_for() or "").startswith("/livez says nothing: ")
