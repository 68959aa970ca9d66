"""The model in the cache is found where there is one."""

import os
from pathlib import Path

import pytest

from loadtests.overhead.model_folder import model_folder


def test_the_newest_model_of_the_cache_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRILLYARD_CACHE", str(tmp_path))
    assert model_folder() is None
    for name, age in (("new", 1), ("old", 2)):
        file = tmp_path / "models" / name / "tokenizer.json"
        file.parent.mkdir(parents=True)
        file.touch()
        os.utime(file, (1_000 - age, 1_000 - age))
    (tmp_path / "models" / "half").mkdir()
    assert model_folder() == tmp_path / "models" / "new"
