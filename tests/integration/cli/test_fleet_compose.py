from pathlib import Path

import pytest
import yaml

from router.fleet.domain.compose_services import pool_services
from router.fleet.domain.demand import PoolName
from tests.integration.cli.conftest import Command

ROOT = Path(__file__).parents[3]
ASKED = ("fleet", "compose", "--gpus", "0,1,2,3", "--model", "org/model", "--weights", "/srv/models/m")


def test_a_file_is_written_that_the_host_reads(drillyard: Command) -> None:
    ended = drillyard(*ASKED, "--profile", str(ROOT / "deploy/vllm/qwen2.5-7b-l40s.yaml"))
    assert (ended.code, ended.err) == (0, "")
    file = yaml.safe_load(ended.out)
    services = pool_services(file, label="drillyard.pool", pool=PoolName("org/model"))
    assert services == {f"vllm-{n}": f"http://127.0.0.1:{8100 + n}" for n in range(4)}
    command = file["services"]["vllm-3"]["command"]
    assert {"--max-num-seqs=118", "--scheduling-policy=priority", "--enable-prefix-caching"} <= set(command)


def test_without_a_profile_the_window_is_what_is_asked_for(drillyard: Command) -> None:
    ended = drillyard(*ASKED, "--window", "8192", "--network", "drillyard_replicas", "--name", "tutor")
    assert (ended.code, ended.err) == (0, "")
    file = yaml.safe_load(ended.out)
    assert "--max-model-len=8192" in file["services"]["tutor-0"]["command"]
    assert file["services"]["tutor-0"]["labels"]["drillyard.url"] == "http://tutor-0:8000"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--gpus", "0,0"), "named twice"),
        (("--weights", "models"), "whole path"),
        (("--port", "65535"), "there are none"),
        (("--profile", "missing.yaml"), "cannot be read"),
    ],
)
def test_what_cannot_be_written_is_told(drillyard: Command, words: tuple[str, ...], why: str) -> None:
    ended = drillyard(*ASKED, *words)
    assert (ended.code, ended.out) == (1, "")
    assert why in ended.err


def test_a_profile_that_cannot_work_is_refused(drillyard: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("dtype: bf16\n")
    ended = drillyard(*ASKED, "--profile", str(file))
    assert ended.code == 1
    assert "dtype is 'bf16'" in ended.err
