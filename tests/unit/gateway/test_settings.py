"""Settings come from the environment, are frozen, and are refused with a reason when they cannot work."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError
from pydantic_settings import SettingsError

from gateway.settings import Settings, load, reasons
from sessions.domain.tiers import Tier

SOUND = {
    "DRILLYARD_REDIS_URL": "redis://127.0.0.1:6379/0",
    "DRILLYARD_DATABASE_URL": "postgresql+psycopg://user:hush@127.0.0.1:5432/drillyard",
    "DRILLYARD_MODEL__NAME": "smollm2",
    "DRILLYARD_MODEL__FOLDER": "/models/smollm2",
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name, value in SOUND.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


def refused() -> list[str]:
    with pytest.raises(ValidationError) as caught:
        load()
    return reasons(caught.value)


def test_settings_are_read_with_their_nested_parts(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DRILLYARD_MODEL__WINDOW_TOKENS", "8192")
    environment.setenv("DRILLYARD_ROUTER__CONNECT_TIMEOUT_S", "0.5")
    environment.setenv("DRILLYARD_REPLICAS", json.dumps([{"id": "replica-1", "url": "http://127.0.0.1:8000"}]))
    settings = load()
    assert settings.model.window_tokens == 8192
    assert settings.router.connect_timeout_s == 0.5
    assert [replica.id for replica in settings.replicas] == ["replica-1"]
    with pytest.raises(ValidationError):
        settings.port = 1  # type: ignore[misc]  # that is the point


POOL = {"model": "smollm2", "seats_per_replica": 4, "maximum": 2}


def test_pools_may_stand_in_a_file(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pools.yml").write_text(json.dumps({"pools": [POOL]}))
    environment.setenv("DRILLYARD_POOLS_FILE", str(tmp_path / "pools.yml"))
    environment.setenv("DRILLYARD_FLEET__INTERVAL_S", "2")
    fleet = load().fleet
    assert ([pool.model for pool in fleet.pools], fleet.interval_s) == (["smollm2"], 2)
    environment.setenv("DRILLYARD_FLEET__POOLS", json.dumps([POOL]))
    assert "take one of them" in "".join(refused())


def test_a_file_of_pools_that_cannot_work_is_told_with_its_line(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "pools.yml").write_text("pools:\n  - model: smollm2\n    maximum: none\n")
    environment.setenv("DRILLYARD_POOLS_FILE", str(tmp_path / "pools.yml"))
    assert "pools.yml, line 3: pools[0].maximum" in "".join(refused())


@pytest.mark.usefixtures("environment")
def test_the_defaults_can_work() -> None:
    assert load().heartbeat_s == 10


@pytest.mark.parametrize("missing", SOUND)
def test_a_missing_setting_is_named_by_its_variable(environment: pytest.MonkeyPatch, missing: str) -> None:
    environment.delenv(missing)
    assert refused() == [f"{missing}: Field required"]


def test_a_setting_that_is_not_json_is_named_by_its_variable(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DRILLYARD_REPLICAS", '[{"id": "a", "url": "http://user:hush@')
    with pytest.raises(SettingsError) as caught:
        load()
    assert reasons(caught.value) == ["DRILLYARD_REPLICAS: this is not JSON"]


def test_of_a_part_that_is_not_json_it_is_said_that_it_may_be_a_part(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DRILLYARD_EDGE__CORS_ORIGINS", "https://drills.example")
    with pytest.raises(SettingsError) as caught:
        load()
    assert reasons(caught.value) == ["DRILLYARD_EDGE or one of DRILLYARD_EDGE__...: this is not JSON"]


def test_a_window_that_cannot_hold_its_parts_is_refused_with_the_arithmetic(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DRILLYARD_MODEL__WINDOW_TOKENS", "2048")
    (reason,) = refused()
    assert "system 500 + script 1000" in reason
    assert "window of 2048 tokens" in reason


def test_two_replicas_of_one_name_are_refused(environment: pytest.MonkeyPatch) -> None:
    row = {"id": "replica-1", "url": "http://127.0.0.1:8000"}
    environment.setenv("DRILLYARD_REPLICAS", json.dumps([row, row]))
    assert refused() == ["settings: replicas: two have the same id"]


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DRILLYARD_REDIS_URL", "http://127.0.0.1"),
        ("DRILLYARD_PORT", "70000"),
        ("DRILLYARD_MODEL__TEMPERATURE", "hot"),
        ("DRILLYARD_ROUTER__NO_SUCH", "1"),
        ("DRILLYARD_LOG_LEVEL", "loud"),
        ("DRILLYARD_HEARTBEAT_S", "0"),
    ],
)
def test_a_value_that_cannot_be_is_named(environment: pytest.MonkeyPatch, variable: str, value: str) -> None:
    environment.setenv(variable, value)
    assert refused()[0].startswith(f"{variable}:")


def test_a_refusal_never_repeats_a_value(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DRILLYARD_DATABASE_URL", "mysql://user:hush@127.0.0.1/x")
    assert "hush" not in " ".join(refused())


def test_every_setting_with_a_unit_says_so() -> None:
    numbers = [name for name, field in Settings.model_fields.items() if field.annotation in (int, float)]
    assert all(name == "port" or name.endswith(("_s", "_bytes", "_tokens")) for name in numbers)


def test_a_router_elsewhere_brings_its_own_replicas(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("DRILLYARD_ROUTER_URL", "http://127.0.0.1:9000")
    environment.setenv("DRILLYARD_ROUTER_KEY", "sesame")
    settings = load()
    assert str(settings.router_url) == "http://127.0.0.1:9000/"
    assert "sesame" not in repr(settings)
    environment.setenv("DRILLYARD_REPLICAS", json.dumps([{"id": "replica-1", "url": "http://127.0.0.1:8000"}]))
    assert "name the replicas there" in refused()[0]


@pytest.mark.parametrize("variable", ["DRILLYARD_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"])
def test_spans_go_where_either_variable_says(environment: pytest.MonkeyPatch, variable: str) -> None:
    assert load().otlp_endpoint is None
    environment.setenv(variable, "http://127.0.0.1:4318")
    assert str(load().otlp_endpoint) == "http://127.0.0.1:4318/"
    environment.setenv(variable, "somewhere")
    assert refused()[0].startswith(("DRILLYARD_OTLP_ENDPOINT:", "OTEL_EXPORTER_OTLP_ENDPOINT:"))


SMALL = {"name": "small", "folder": "/models/small", "window_tokens": 8192}


def test_one_model_serves_everything_unless_more_is_said(environment: pytest.MonkeyPatch) -> None:
    offer = load().offer
    assert (offer.default, offer.models, offer.tiers) == ("smollm2", ("smollm2",), {})
    assert offer.stand_ins(Tier.ROLE_PLAY) == ("smollm2",)
    environment.setenv("DRILLYARD_MODELS", json.dumps([SMALL]))
    environment.setenv("DRILLYARD_TIERS", json.dumps({"faq": "small"}))
    fallbacks = {"role_play": "faq", "scoring": ["small", "smollm2"], "summary": []}
    environment.setenv("DRILLYARD_TIER_FALLBACKS", json.dumps(fallbacks))
    settings = load()
    assert [model.window_tokens for model in settings.all_models] == [4096, 8192]
    assert settings.offer.tiers == {Tier.FAQ: "small"}
    assert settings.offer.stand_ins(Tier.ROLE_PLAY) == ("small", "smollm2")
    assert settings.offer.stand_ins(Tier.SUMMARY) == ()


@pytest.mark.parametrize(
    ("variable", "value", "reason"),
    [
        ("MODELS", [SMALL, SMALL], "models: two have the same name"),
        ("MODELS", [SMALL | {"name": "smollm2"}], "models: two have the same name"),
        ("MODELS", [SMALL | {"window_tokens": 2048}], "small: a window of 2048 tokens leaves"),
        ("TIERS", {"role_play": "large"}, "tiers: role_play is to be served by 'large', and the models are smollm2"),
        ("TIER_FALLBACKS", {"faq": ["large"]}, "'large', which faq falls back to, is neither a model nor a tier"),
    ],
)
def test_models_that_cannot_work_together_are_refused(
    environment: pytest.MonkeyPatch, variable: str, value: object, reason: str
) -> None:
    environment.setenv(f"DRILLYARD_{variable}", json.dumps(value))
    (told,) = refused()
    assert reason in told


@pytest.mark.parametrize("variable", ["DRILLYARD_TIERS", "DRILLYARD_TIER_FALLBACKS"])
def test_a_tier_that_does_not_exist_is_named(environment: pytest.MonkeyPatch, variable: str) -> None:
    environment.setenv(variable, json.dumps({"poetry": "smollm2"}))
    assert refused()[0].startswith(f"{variable}__POETRY")
