import json
from pathlib import Path

from gateway.local.ready_file import Ready, ReadyFiles, ReadyReplica
from gateway.local.seed import Keys, Seed, SeedScenario

READY = Ready(
    base_url="http://127.0.0.1:8080",
    seed=Seed(
        tenant="sample",
        keys=Keys(operator="o", instructor="i", service="s", trainees=("t1", "t2")),
        scenarios=(SeedScenario("s-1", "zh-CN"),),
    ),
    replicas=(ReadyReplica("replica-1", "http://127.0.0.1:1", 42, "vllm"),),
    redis_url="redis://127.0.0.1:2/0",
    database_url="postgresql+psycopg://drillyard:pw@127.0.0.1:3/drillyard",
    pids={"redis": 7},
    log_dir=Path("/data/logs"),
)


def test_the_object_has_the_promised_shape() -> None:
    assert json.loads(READY.as_json()) == {
        "base_url": "http://127.0.0.1:8080",
        "tenant": "sample",
        "keys": {"operator": "o", "instructor": "i", "service": "s", "trainees": ["t1", "t2"]},
        "scenarios": [{"id": "s-1", "locale": "zh-CN"}],
        "replicas": [{"id": "replica-1", "url": "http://127.0.0.1:1", "pid": 42, "kind": "vllm"}],
        "redis_url": "redis://127.0.0.1:2/0",
        "database_url": "postgresql+psycopg://drillyard:pw@127.0.0.1:3/drillyard",
        "pids": {"redis": 7},
        "log_dir": "/data/logs",
    }


def test_every_place_gets_the_same_private_file_and_loses_it_again(tmp_path: Path) -> None:
    files = ReadyFiles((tmp_path / "ready.json", tmp_path / "new" / "asked-for.json"))
    files.write(READY)
    assert {file.read_text() for file in files.files} == {READY.as_json()}
    assert {file.stat().st_mode & 0o777 for file in files.files} == {0o600}
    files.remove()
    files.remove()
    assert not any(file.exists() for file in files.files)


def test_secrets_do_not_show_in_a_representation() -> None:
    assert "pw@" not in repr(READY)
    assert "operator" not in repr(READY)
