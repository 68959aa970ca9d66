from pathlib import Path

import pytest

from gateway.cli.capacity_profile import write_profile
from gateway.cli.failure import CommandFailed
from router.fleet.domain.vllm_profile import profile_text
from tests.unit.router.fleet.domain.test_capacity import asked, planned

PLAN = planned(asked("Qwen3-8B"))


def test_a_profile_is_written_and_written_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    for _ in range(2):
        write_profile(PLAN, file)
        assert file.read_text() == profile_text(PLAN)


def test_a_file_of_somebody_else_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text("mine: true\n")
    with pytest.raises(CommandFailed, match="left as it is"):
        write_profile(PLAN, file)
    assert file.read_text() == "mine: true\n"


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing" / "mine.yaml"):
        with pytest.raises(CommandFailed, match="cannot be written"):
            write_profile(PLAN, place)
