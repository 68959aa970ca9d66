"""Accepted runs are found again at their place, and a damaged file is not written over."""

from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.ledger.baselines import Baselines, Place
from loadtests.run_files import RunDamaged

PLACE = Place("quick", "class", "d-1", "m-1")


def test_nothing_is_accepted_at_first(tmp_path: Path) -> None:
    assert Baselines(tmp_path / "none").runs_of(PLACE) == ()
    assert Baselines(tmp_path / "none").runs() == frozenset()
    Baselines(tmp_path / "none").accept({})
    assert not (tmp_path / "none").exists()


def test_the_latest_accepted_runs_stand_and_other_places_keep_theirs(tmp_path: Path) -> None:
    other = replace(PLACE, machine="")
    Baselines(tmp_path).accept({PLACE: ["a"], other: ["b", "c"]})
    Baselines(tmp_path).accept({PLACE: ["d"]})
    assert Baselines(tmp_path).runs_of(PLACE) == ("d",)
    assert Baselines(tmp_path).runs_of(other) == ("b", "c")
    assert Baselines(tmp_path).runs() == {"b", "c", "d"}


@pytest.mark.parametrize("field", ["suite", "name", "drill", "machine"])
def test_every_part_of_a_place_tells_it_from_others(tmp_path: Path, field: str) -> None:
    Baselines(tmp_path).accept({PLACE: ["a"]})
    assert Baselines(tmp_path).runs_of(replace(PLACE, **{field: "other"})) == ()


@pytest.mark.parametrize("text", ["{", '{"a": "b"}', '{"a": [1]}'])
def test_a_damaged_file_is_an_error_and_stays(tmp_path: Path, text: str) -> None:
    (tmp_path / "baselines.json").write_text(text)
    with pytest.raises(RunDamaged):
        Baselines(tmp_path).accept({PLACE: ["a"]})
    assert (tmp_path / "baselines.json").read_text() == text
