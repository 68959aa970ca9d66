import json
from pathlib import Path

import pytest
import yaml

from tests.integration.cli.conftest import Command
from tests.unit.router.fleet.domain.five_models import SMOLLM2_135M

ROOT = Path(__file__).parents[3]
MODELS = {
    # Sessions of 4,096 tokens on a card of 46,068 MiB, by hand in tests/unit/router/fleet/domain/test_capacity.py.
    "qwen2.5-7b": 118,
    "qwen2.5-14b": 16,
    "qwen3-8b": 44,
    "llama-3.1-8b": 50,
}


@pytest.mark.parametrize("model", MODELS)
def test_a_plan_is_told_by_the_name_of_a_model(drillyard: Command, model: str) -> None:
    ended = drillyard("capacity", "--model", model, "--tpot", "1", "--json")
    assert ended.code == 0, ended
    assert json.loads(ended.out)["window_sessions"] == MODELS[model]


def test_the_tables_tell_cautions_and_the_command(drillyard: Command) -> None:
    ended = drillyard("capacity", "--trainees", "300", "--price", "1.1", "--average", "2500")
    assert ended.code == 0, ended
    for told in ("weights", "limited by memory", "bandwidth floor", "replica hours", "- KV is counted by its 4 heads"):
        assert told in ended.out
    assert ended.out.splitlines()[-1].startswith("vllm serve MODEL --max-model-len=4096")


def test_a_model_that_does_not_fit_ends_with_1_and_writes_nothing(drillyard: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    ended = drillyard("capacity", "--model", "qwen2.5-32b", "--profile", str(file))
    assert (ended.code, ended.err) == (1, "")
    assert "- does not fit: 21.9 GiB short of room for one session of 4096 tokens" in ended.out
    assert not file.exists()
    assert drillyard("capacity", "--model", "qwen2.5-32b", "--quantization", "int4").code == 0


def test_every_option_reaches_the_plan(drillyard: Command, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(SMOLLM2_135M))
    words = (
        f"--model {tmp_path} --device cpu --memory-gib 16 --bandwidth-gb-s 24 --tflops 2 --quantization int8 "
        "--kv-cache-dtype fp8 --window 2048 --utilization 0.9 --max-num-seqs 32 --max-num-batched-tokens 1024 "
        "--enforce-eager --trainees 40 --think 30 --new 80 --reply 60 --average 1500 --first 700 --shared 512 "
        "--ttft 5 --tpot 0.5 --reserve 2 --price 2 --drill-minutes 90 --lead-minutes 20 --drain-minutes 10 "
        "--measured-start 60 --safety 3 --spec-tokens 2 --acceptance 0.7 --json"
    )
    ended = drillyard("capacity", *words.split())
    assert ended.code == 0, ended
    told = json.loads(ended.out)
    assert told["memory"]["kv_token_bytes"] == 11_520
    assert told["environment"] == {"VLLM_CPU_KVCACHE_SPACE": "12"}
    flags = {"max-model-len": 2048, "max-num-seqs": 32, "max-num-batched-tokens": 1024, "enforce-eager": True}
    assert flags.items() <= told["flags"].items()
    assert {"kv-cache-dtype": "fp8", "spec-method": "ngram", "spec-tokens": 2}.items() <= told["flags"].items()
    assert told["turns"] == {
        "think_s": 30,
        "new_tokens": 80,
        "reply_tokens": 60,
        "context_tokens": 1500,
        "first_tokens": 700,
        "shared_tokens": 512,
    }
    assert told["targets"] == {"ttft_p95_s": 5, "token_s": 0.5}
    assert told["replicas"] == 3
    assert told["cost"]["replica_hours"] == 3 * 2
    assert told["measured_cost"]["price"] == pytest.approx(2 * 3 * (3 + 90 + 10) / 60)


def test_a_profile_is_written_for_vllm(drillyard: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    assert drillyard("capacity", "--model", "qwen3-8b", "--profile", str(file)).code == 0
    assert yaml.safe_load(file.read_text())["max-num-seqs"] == 44


def test_a_draft_model_is_told_as_it_was_asked_for(drillyard: Command) -> None:
    words = "--model qwen2.5-14b --device h100 --spec-tokens 3 --draft-model Qwen/Qwen2.5-7B-Instruct --json"
    ended = drillyard("capacity", *words.split())
    assert json.loads(ended.out)["flags"]["spec-model"] == "Qwen/Qwen2.5-7B-Instruct"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--model nobody", "no model 'nobody' is known"),
        ("--device abacus", "no device 'abacus' is known"),
        ("--draft-model qwen3-8b", "say how much ahead by --spec-tokens"),
        ("--window 40000", "--window 40000 is more than the 32768 tokens that Qwen2.5-7B-Instruct was made for"),
        ("--average 5000", "--average (5000 tokens) cannot be more than --window 4096"),
        ("--first 5000", "--first (5000 tokens) cannot be more"),
        ("--shared 5000", "--shared (5000 tokens) cannot be more"),
        ("--new 4000 --reply 97", "--new and --reply (4097 tokens) cannot be more"),
        ("--profile /nowhere/mine.yaml", "/nowhere/mine.yaml cannot be written: No such file or directory"),
    ],
)
def test_what_contradicts_itself_is_told_in_one_line(drillyard: Command, words: str, said: str) -> None:
    ended = drillyard("capacity", *words.split())
    assert ended.code == 1
    assert said in ended.err
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize(
    "words", ["--trainees 0", "--utilization 1.5", "--quantization 3bit", "--acceptance 2", "--think nan"]
)
def test_a_figure_out_of_bounds_is_wrong_usage(drillyard: Command, words: str) -> None:
    assert drillyard("capacity", *words.split()).code == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("qwen2.5-7b-l40s.yaml", "--model qwen2.5-7b --device l40s"),
        ("qwen2.5-14b-fp8-l40s.yaml", "--model qwen2.5-14b --device l40s --quantization fp8 --kv-cache-dtype fp8"),
    ],
)
def test_the_profiles_that_are_shipped_are_what_the_command_writes(
    drillyard: Command, tmp_path: Path, name: str, words: str
) -> None:
    file = tmp_path / name
    assert drillyard("capacity", *words.split(), "--profile", str(file)).code == 0
    assert file.read_text() == (ROOT / "deploy/vllm" / name).read_text()
