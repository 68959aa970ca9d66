"""Two traces are shipped, and any other file in one of their formats can be played."""

from pathlib import Path

import pytest

from loadtests.domain.drill import Drill, Shape, Wire
from loadtests.trace_files import arrivals_of, parts_of

DRILL = Drill(shape=Shape.TRACE, wire=Wire.CHAT, trace="mooncake", trace_s=60)


@pytest.mark.parametrize(("name", "requests", "length_s"), [("azure", 19_366, 3_502), ("mooncake", 3_993, 1_022)])
def test_the_shipped_traces_are_whole(name: str, requests: int, length_s: float) -> None:
    arrivals = arrivals_of(name)
    assert len(arrivals) == requests
    assert arrivals[-1].at_s == pytest.approx(length_s, abs=1)


def test_another_file_is_read_by_its_path(tmp_path: Path) -> None:
    file = tmp_path / "own.jsonl"
    file.write_text('{"timestamp": 0, "input_length": 10, "output_length": 2, "hash_ids": [1]}\n')
    assert [each.prompt_tokens for each in arrivals_of(str(file))] == [10]


def test_a_file_that_is_not_there_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        arrivals_of(str(tmp_path / "none"))


def test_a_drill_has_its_parts_whatever_its_shape() -> None:
    assert len(parts_of(Drill(trainees=3))) == 3
    assert sum(part.asks for part in parts_of(DRILL)) == sum(each.at_s < 60 for each in arrivals_of("mooncake"))
    with pytest.raises(ValueError, match="trace: "):
        parts_of(Drill(shape=Shape.TRACE, wire=Wire.CHAT))


def test_a_drill_in_which_nobody_asks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadtests.trace_files.arrivals_of", lambda _: ())
    with pytest.raises(ValueError, match="trace: nothing"):
        parts_of(DRILL)
