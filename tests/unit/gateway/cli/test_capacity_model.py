import json
from pathlib import Path

import pytest

from gateway.cli.capacity_model import LARGEST_CONFIG_BYTES, found_model, known_models
from gateway.cli.failure import CommandFailed
from router.fleet.domain.model_config import model_config
from tests.unit.router.fleet.domain.five_models import LLAMA31_8B, TOLD


def test_the_five_bundled_models_are_those_that_were_counted_by_hand() -> None:
    known = known_models()
    assert len(known) == 5
    by_hand = {name: told for name, told in TOLD.items() if name != "SmolLM2-135M"}
    assert {name.removesuffix("-Instruct"): dict(told) for name, told in known.items()} == by_hand


@pytest.mark.parametrize("asked", ["Qwen2.5-14B-Instruct", "qwen2.5-14b", "Qwen/Qwen2.5-14B-Instruct"])
def test_a_known_model_is_found_by_what_people_call_it(asked: str) -> None:
    assert found_model(asked).name == "Qwen2.5-14B-Instruct"


@pytest.mark.parametrize("inside", ["", "config.json"])
def test_any_other_is_read_from_its_folder_or_its_file(tmp_path: Path, inside: str) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA31_8B))
    assert found_model(str(folder / inside)) == model_config("mine", LLAMA31_8B)


def test_what_is_nowhere_is_told_with_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match=r"no model 'gpt-9' is known .* Qwen3-8B"):
        found_model("gpt-9")
    with pytest.raises(CommandFailed, match="no such file is there"):
        found_model(str(tmp_path))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is no JSON"),
        (b"\xff\xfe\xfa", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b"[]", "holds no JSON object"),
        (b"{}", "model_type None is not known here"),
        (b'{"model_type": "llama"}', "hidden_size must be a whole number"),
        (b" " * (LARGEST_CONFIG_BYTES + 1), "is too large"),
    ],
)
def test_a_file_that_is_no_config_is_told_by_its_path(tmp_path: Path, content: bytes, said: str) -> None:
    file = tmp_path / "config.json"
    file.write_bytes(content)
    with pytest.raises(CommandFailed, match=said) as failed:
        found_model(str(file))
    assert str(file) in str(failed.value)


def test_the_name_of_a_folder_is_fit_for_one_line(tmp_path: Path) -> None:
    folder = tmp_path / "a\x1b[31m\nb: c\u2028d"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA31_8B))
    assert found_model(str(folder)).name == "a[31m b: c d"
