"""Pools are read from YAML, and what is wrong is told with its line."""

import re
from pathlib import Path

import pytest

from gateway.pools_file import read_pools
from router.fleet.settings import KubernetesHostSettings

SOUND = """\
pools:
  - model: qwen
    seats_per_replica: 30
    maximum: 6
    host: {kind: kubernetes, deployment: vllm-qwen}
  - model: 模型
    seats_per_replica: 4
    maximum: 2
"""


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "pools.yml"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refused(path: Path) -> str:
    with pytest.raises(ValueError, match=re.escape(str(path))) as found:
        read_pools(path)
    return str(found.value).removeprefix(str(path))


def test_pools_are_read(tmp_path: Path) -> None:
    first, second = read_pools(written(tmp_path, SOUND))
    assert (first.model, first.maximum, first.host) == ("qwen", 6, KubernetesHostSettings(deployment="vllm-qwen"))
    assert (second.model, second.host) == ("模型", None)


def test_what_pools_share_may_be_written_once(tmp_path: Path) -> None:
    shared = "pools:\n - &usual {model: a, seats_per_replica: 4, maximum: 2}\n - {<<: *usual, model: b}\n"
    assert [(pool.model, pool.maximum) for pool in read_pools(written(tmp_path, shared))] == [("a", 2), ("b", 2)]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("maximum: 6", "maximum: many", ", line 4: pools[0].maximum: Input should be a valid integer"),
        ("maximum: 6", "most: 6", ", line 2: pools[0].maximum: Field required"),
        ("maximum: 2", "maximum: 2\n    most: 9", ", line 9: pools[1].most: Extra inputs are not permitted"),
        ("deployment", "deploiment", ", line 5: pools[0].host.deployment: Field required"),
        ("kind: kubernetes", "kind: moon", ", line 5: pools[0].host: Input tag 'moon'"),
        ("maximum: 6", "maximum: 6\n    minimum: 9", ", line 2: pools[0]: "),
        ("model: qwen", "model: qwen\n    model: llama", ", line 3: 'model' stands there twice"),
        ("pools:", "pool:", ": it must hold one key"),
        ("  - model: qwen", "  model: qwen", ", line 3: this is not YAML"),
        ("  - model: qwen", "\t- model: qwen", ", line 2: this is not YAML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, before: str, after: str, told: str) -> None:
    assert told in refused(written(tmp_path, SOUND.replace(before, after, 1)))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"pools: 3",
        b"[]",
        b"pools: &all [*all]",
        b"[" * 5000,
        b"pools: \xff\xfe",
        b"\0",
        b"pools: !!python/object:os.system x",
        b"pools:\n- {[a]: b}",
        b" " * 1_048_577,
    ],
)
def test_what_holds_no_pools_is_refused(tmp_path: Path, content: bytes) -> None:
    assert refused(written(tmp_path, content))


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "No such file" in refused(tmp_path / "none.yml")


def test_values_are_never_repeated(tmp_path: Path) -> None:
    """The environment of a replica may hold a token."""
    secret = SOUND.replace(
        "{kind: kubernetes, deployment: vllm-qwen}", '{kind: processes, environment: {HF_TOKEN: ["hush"]}}'
    )
    assert "hush" not in refused(written(tmp_path, secret))


@pytest.mark.parametrize(
    "value", ["*hush-hush", "!hush-hush", "&hush-hush 1\n    x: &hush-hush 2", "@hush-hush", "'hush-hush"]
)
def test_a_value_that_yaml_takes_for_something_else_is_not_repeated_either(tmp_path: Path, value: str) -> None:
    told = refused(written(tmp_path, SOUND.replace("maximum: 6", f"maximum: {value}", 1)))
    assert ", line " in told
    assert "hush-hush" not in told


@pytest.mark.timeout(20)
def test_a_few_lines_that_stand_for_very_many_are_refused_at_once(tmp_path: Path) -> None:
    layers = [f"  x{each}: &x{each} [{', '.join([f'*x{each - 1}'] * 9)}]\n" for each in range(1, 12)]
    told = refused(written(tmp_path, "pools:\n- x0: &x0 [y]\n" + "".join(layers)))
    assert "Extra inputs are not permitted" in told
    many = "pools:\n- &one {model: 1}\n" + "- *one\n" * 1000
    assert len(refused(written(tmp_path, many))) < 3000
