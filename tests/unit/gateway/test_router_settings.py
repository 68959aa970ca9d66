"""The settings of a router process."""

import pytest
from pydantic import ValidationError

from gateway.router_settings import is_loopback, load, shown
from gateway.settings import reasons


@pytest.fixture(autouse=True)
def _bare(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DRILLYARD_REDIS_URL", "DRILLYARD_REPLICAS", "DRILLYARD_PORT", "DRILLYARD_ROUTER__PIN_MODE"):
        monkeypatch.delenv(name, raising=False)


def test_nothing_is_needed() -> None:
    assert load({}).redis_url is None


def test_what_is_given_stands_above_the_environment_and_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRILLYARD_PORT", "7")
    monkeypatch.setenv("DRILLYARD_ROUTER__PIN_MODE", "hard")
    settings = load({"port": 8, "router": {"chunk_timeout_s": "3"}})
    assert settings.port == 8
    assert (settings.router.pin_mode, settings.router.chunk_timeout_s) == ("hard", 3.0)


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"port": 70_000}, "DRILLYARD_PORT: "),
        ({"router": {"chunk_timeout": 1}}, "DRILLYARD_ROUTER__CHUNK_TIMEOUT: "),
        ({"replicas": [{"id": "a b", "url": "http://a"}]}, "DRILLYARD_REPLICAS__0__ID: "),
        ({"replicas": [{"id": "a", "url": "http://a"}] * 2}, "settings: replicas: two have the same id"),
        ({"fleet_file": "f", "kubernetes_service": "s"}, "settings: replicas, fleet_file and kubernetes_service"),
        ({"host": "0.0.0.0"}, "settings: host: 0.0.0.0 is not this machine alone"),  # noqa: S104
    ],
)
def test_what_cannot_work_is_said_in_one_line(given: dict[str, object], line: str) -> None:
    with pytest.raises(ValidationError) as refused:
        load(given)
    (told,) = reasons(refused.value)
    assert told.startswith(line)


def test_other_machines_are_served_with_an_operators_key_or_on_purpose() -> None:
    load({"host": "0.0.0.0", "operator_keys": ["k"]})  # noqa: S104
    load({"host": "0.0.0.0", "open": True})  # noqa: S104


def test_loopback_is_this_machine_alone() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.1.2.3", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "router.example")))  # noqa: S104


def test_no_secret_is_shown() -> None:
    given = {
        "redis_url": "redis://:redis-word@store:6379/1",
        "api_keys": ["client-word"],
        "operator_keys": ["operator-word"],
        "engine_key": "engine-word",
        "replicas": [{"id": "a", "url": "http://user:url-word@a:8000/v"}],
    }
    seen = shown(load(given))
    assert "word" not in str(seen)
    assert seen["redis"] == "store:6379/1"
    assert "http://a:8000/v" in str(seen["replicas"])
    assert "word" not in repr(load(given)).replace("redis-word", "").replace("url-word", "")
