"""The manifests say only what the program understands, and fit together."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from lightkube import codecs

from gateway.cli.fleet_weights import weights
from gateway.pools_file import read_pools
from gateway.settings import Settings
from router.fleet.domain.replica_lifecycle import DEADLINES, ReplicaState
from router.fleet.settings import KubernetesHostSettings, PoolSettings
from tests.architecture.test_compose import PREFIX, known, ours
from tests.support.manifests import FOLDER, Thing, documents, the

ROOT = Path(__file__).parents[2]
TEARDOWN_S = 6
"""Measured: from the end of the last answer to the end of the process."""


def pod_of(deployment: str) -> Thing:
    found: Thing = the("Deployment", deployment)["spec"]["template"]["spec"]
    return found


def engine() -> Thing:
    (container,) = pod_of("vllm")["containers"]
    found: Thing = container
    return found


def flags() -> dict[str, str]:
    listed = [flag.removeprefix("--").partition("=") for flag in engine()["args"] if flag.startswith("--")]
    return {name: value or "true" for name, _, value in listed}


@pytest.fixture
def pool(tmp_path: Path) -> PoolSettings:
    file = tmp_path / "pools.yml"
    file.write_text(the("ConfigMap", "drillyard-pools")["data"]["pools.yml"])
    (found,) = read_pools(file)
    return found


def there_and_back(document: Thing) -> Thing:
    found: Thing = codecs.from_dict(document).to_dict()  # type: ignore[no-untyped-call]
    return found


def environment(deployment: str) -> dict[str, str]:
    return {each["name"]: each.get("value", "") for each in pod_of(deployment)["containers"][0]["env"]}


def test_every_file_is_named_by_the_kustomization_and_everything_stands_in_one_namespace() -> None:
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    assert {path.name for path in FOLDER.glob("*.yaml")} == {*kustomization["resources"], "kustomization.yaml"}
    assert {each["metadata"]["namespace"] for each in documents()} == {kustomization["namespace"]}
    keys = [(each["kind"], each["metadata"]["name"]) for each in documents()]
    assert len(set(keys)) == len(keys)


def test_every_field_is_one_that_the_api_knows() -> None:
    """What a type has no place for is lost on the way there and back."""
    for document in documents():
        assert there_and_back(document) == document
    misspelt = {**the("Service", "vllm"), "spec": {"clusterIp": "None"}}
    assert there_and_back(misspelt) != misspelt


def test_labels_select_what_they_are_meant_to() -> None:
    for name in ("vllm", "drillyard-fleet"):
        deployment = the("Deployment", name)["spec"]
        assert deployment["selector"]["matchLabels"].items() <= deployment["template"]["metadata"]["labels"].items()
    replicas = the("Deployment", "vllm")["spec"]["selector"]["matchLabels"]
    assert the("Service", "vllm")["spec"]["selector"] == replicas
    assert the("PodDisruptionBudget", "vllm")["spec"]["selector"]["matchLabels"] == replicas
    assert the("NetworkPolicy", "vllm")["spec"]["podSelector"]["matchLabels"] == replicas
    (source,) = the("NetworkPolicy", "vllm")["spec"]["ingress"][0]["from"]
    controller = the("Deployment", "drillyard-fleet")["spec"]["template"]["metadata"]["labels"]
    assert source["podSelector"]["matchLabels"].items() <= controller.items()


def test_the_pool_is_the_deployment(pool: PoolSettings) -> None:
    assert isinstance(pool.host, KubernetesHostSettings)
    assert pool.host.deployment == the("Deployment", "vllm")["metadata"]["name"]
    assert [gate["conditionType"] for gate in pod_of("vllm")["readinessGates"]] == [pool.host.gate]
    assert pool.host.port in [port["containerPort"] for port in engine()["ports"]]
    assert pool.model == flags()["served-model-name"] == environment("drillyard-fleet")["DRILLYARD_MODEL__NAME"]
    assert pool.seats_per_replica <= int(flags()["max-num-seqs"])
    # The plan looks for weights of its own in no pool of this kind: the pod fetches them.
    assert pool.weights is None


def test_the_scale_that_may_be_changed_is_that_of_the_pools(pool: PoolSettings) -> None:
    assert isinstance(pool.host, KubernetesHostSettings)
    (rule,) = (each for each in the("Role", "drillyard-fleet")["rules"] if "deployments/scale" in each["resources"])
    assert rule["resourceNames"] == [pool.host.deployment]


def test_the_role_is_bound_to_whom_the_controller_runs_as() -> None:
    binding = the("RoleBinding", "drillyard-fleet")
    assert binding["roleRef"]["name"] == the("Role", "drillyard-fleet")["metadata"]["name"]
    (subject,) = binding["subjects"]
    assert (subject["kind"], subject["name"]) == ("ServiceAccount", pod_of("drillyard-fleet")["serviceAccountName"])
    assert the("ServiceAccount", subject["name"])["metadata"]["namespace"] == subject["namespace"]
    assert pod_of("vllm")["automountServiceAccountToken"] is False


def test_applying_the_files_again_leaves_the_scale_alone() -> None:
    assert "replicas" not in the("Deployment", "vllm")["spec"]


def test_no_rule_lets_more_than_is_named() -> None:
    for rule in the("Role", "drillyard-fleet")["rules"]:
        assert "*" not in {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}


def test_a_running_answer_has_time_to_end() -> None:
    (command,) = [engine()["lifecycle"]["preStop"]["exec"]["command"]]
    assert command[0] == "sleep"
    needed = int(command[1]) + int(flags()["shutdown-timeout"]) + TEARDOWN_S
    assert pod_of("vllm")["terminationGracePeriodSeconds"] > needed


def test_a_start_is_given_up_by_the_controller_before_the_kubelet_begins_it_anew() -> None:
    probe = engine()["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] > DEADLINES[ReplicaState.STARTING].seconds
    assert "livenessProbe" not in engine()


def test_the_engine_is_started_by_the_bundled_profile() -> None:
    profile = yaml.safe_load((ROOT / "deploy/vllm/qwen2.5-7b-l40s.yaml").read_text())
    own = {"served-model-name", "host", "port"}
    assert {name: value for name, value in flags().items() if name not in own} == {
        name: json.dumps(value) if isinstance(value, bool) else str(value) for name, value in profile.items()
    }


def test_the_weights_are_where_the_engine_looks_for_them() -> None:
    (fetch,) = pod_of("vllm")["initContainers"]
    folder = fetch["args"][fetch["args"].index("--into") + 1]
    assert folder == engine()["args"][0]
    for container in (fetch, engine()):
        (mounted,) = (each for each in container["volumeMounts"] if each["name"] == "weights")
        assert folder.startswith(mounted["mountPath"] + "/")


def test_what_fetches_is_a_command_that_there_is() -> None:
    for deployment in ("vllm", "drillyard-fleet"):
        for container in pod_of(deployment)["initContainers"]:
            assert container["args"][:2] == ["fleet", weights.__name__]
            named = {each.removeprefix("--") for each in container["args"] if each.startswith("--")}
            assert named <= set(weights.__annotations__)
            filled = set(re.findall(r"\$\(([A-Z_]+)\)", " ".join(container["args"])))
            assert filled == {each["name"] for each in container["env"]}


def test_what_is_mounted_is_there() -> None:
    for deployment in ("vllm", "drillyard-fleet"):
        pod = pod_of(deployment)
        volumes = {each["name"] for each in pod["volumes"]}
        used = {m["name"] for each in (*pod["initContainers"], *pod["containers"]) for m in each["volumeMounts"]}
        assert used == volumes
    for name in _config_maps(list(documents())):
        the("ConfigMap", name)


def test_two_controllers_are_told_what_the_settings_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {name for name, _ in known()}
    needed = {name for name, required in known() if required}
    told = environment("drillyard-fleet")
    in_the_secret = {"DRILLYARD_DATABASE_URL", "DRILLYARD_REDIS_URL"}
    assert ours(told) <= names
    assert needed <= set(told) | in_the_secret
    assert pod_of("drillyard-fleet")["containers"][0]["args"] == ["fleet", "run"]
    assert the("Deployment", "drillyard-fleet")["spec"]["replicas"] == 2

    (mounted,) = (
        each for each in pod_of("drillyard-fleet")["containers"][0]["volumeMounts"] if each["name"] == "pools"
    )
    folder, _, key = told["DRILLYARD_POOLS_FILE"].rpartition("/")
    assert folder == mounted["mountPath"]
    file = tmp_path / key
    file.write_text(the("ConfigMap", "drillyard-pools")["data"][key])
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("DRILLYARD_POOLS_FILE", str(file))
    monkeypatch.setenv("DRILLYARD_DATABASE_URL", "postgresql://drillyard:x@postgres/drillyard")
    monkeypatch.setenv("DRILLYARD_REDIS_URL", "redis://redis/0")
    settings = Settings()
    assert settings.fleet.pools[0].host is not None
    (port,) = pod_of("drillyard-fleet")["containers"][0]["ports"]
    assert port["containerPort"] == settings.fleet.metrics_port


def test_no_container_may_raise_its_rights_and_no_secret_stands_in_the_files() -> None:
    for deployment in ("vllm", "drillyard-fleet"):
        pod = pod_of(deployment)
        for container in (*pod["initContainers"], *pod["containers"]):
            assert container["securityContext"]["allowPrivilegeEscalation"] is False
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert re.search(r":v?[0-9]+\.[0-9]+", container["image"])
            assert container["resources"]["limits"]["memory"]
    assert "Secret" not in {each["kind"] for each in documents()}
    text = "".join(path.read_text() for path in FOLDER.glob("*.yaml"))
    assert not re.search(r"://[^:/@\s]+:[^$@\s]+@", text)
    assert PREFIX in text


def _config_maps(part: Any) -> set[str]:
    """The names that anything refers to."""
    if isinstance(part, list):
        return set().union(*(_config_maps(each) for each in part))
    if not isinstance(part, dict):
        return set()
    named = {part["configMapKeyRef"]["name"]} if "configMapKeyRef" in part else set()
    named |= {part["configMap"]["name"]} if "configMap" in part else set()
    return named.union(*(_config_maps(each) for each in part.values()))
