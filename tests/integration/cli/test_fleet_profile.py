import json
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Command

ROOT = Path(__file__).parents[3]
BUNDLED = sorted((ROOT / "deploy" / "vllm").glob("*.yaml"))


def test_there_are_bundled_profiles() -> None:
    assert len(BUNDLED) >= 2


@pytest.mark.parametrize("profile", BUNDLED, ids=lambda path: path.stem)
def test_the_bundled_profiles_have_nothing_amiss(drillyard: Command, profile: Path) -> None:
    ended = drillyard("fleet", "profile", "check", str(profile), "--window", "4096", "--engine-priority", "--strict")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.endswith("0 errors, 0 warnings, by the flags of vLLM 0.32.0\n")


def test_what_is_wrong_is_named_with_what_to_do(drillyard: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "max-model-len: 4096\nenable-prefix-cachng: true\ndtype: bf16\nmax-num-seqs: many\napi-key: s3cret\n"
    )
    ended = drillyard("fleet", "profile", "check", str(file))
    assert (ended.code, ended.err) == (1, "")
    lines = ended.out.splitlines()
    assert "error    enable-prefix-cachng is no flag of vLLM 0.32.0; did you mean enable-prefix-caching?" in lines
    assert "error    dtype is 'bf16', which vLLM does not offer; did you mean bfloat16?" in lines
    assert lines[-1] == f"{file}: 3 errors, 4 warnings, by the flags of vLLM 0.32.0"
    assert "s3cret" not in ended.out


def test_warnings_alone_fail_only_where_it_is_asked_for(drillyard: Command, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("max-model-len: 4096\n")
    assert drillyard("fleet", "profile", "check", str(file)).code == 0
    ended = drillyard("fleet", "profile", "check", str(file), "--strict", "--json")
    assert ended.code == 1
    told = json.loads(ended.out)
    assert (told["engine_version"], told["errors"]) == ("0.32.0", 0)
    assert {"weight", "flag", "what", "advice"} == set(told["findings"][0])


def test_a_profile_is_shown_beside_the_engines_own_values(drillyard: Command, tmp_path: Path) -> None:
    ended = drillyard("fleet", "profile", "show", str(ROOT / "deploy/vllm/qwen2.5-7b-l40s.yaml"))
    assert ended.code == 0, ended
    assert "scheduling-policy: priority  (vLLM 0.32.0: fcfs)" in ended.out
    assert ended.out.splitlines()[-1].startswith("vllm serve MODEL --max-model-len=4096 --max-num-seqs=118")
    file = tmp_path / "mine.yaml"
    file.write_text("hf-token: s3cret\nmax-num-seqs: 0\n")
    ended = drillyard("fleet", "profile", "show", str(file))
    assert ended.code == 1
    assert "s3cret" not in ended.out + ended.err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("missing.yaml",), "cannot be read"),
        ((str(BUNDLED[0]), "--engine-version", "0.1"), "not known, only those of"),
        ((str(BUNDLED[0]), "--vllm-env", "nowhere"), "cannot be run"),
    ],
)
def test_what_cannot_be_asked_is_told_in_one_line(drillyard: Command, words: tuple[str, ...], why: str) -> None:
    ended = drillyard("fleet", "profile", "check", *words)
    assert ended.code == 1
    assert why in ended.err
    assert "Traceback" not in ended.err
