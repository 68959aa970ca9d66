from pathlib import Path

import pytest

from gateway.cli.try_it import try_it


@pytest.fixture
def interpreter(tmp_path: Path) -> Path:
    folder = tmp_path / "clone" / ".venv" / "bin"
    folder.mkdir(parents=True)
    for name in ("python", "drillyard"):
        (folder / name).touch(0o755)
    return folder / "python"


def test_in_the_folder_of_the_clone_the_way_is_short(interpreter: Path, tmp_path: Path) -> None:
    chat, drill = try_it(Path(".drillyard"), interpreter=interpreter, here=tmp_path / "clone")
    assert chat == ".venv/bin/drillyard chat"
    assert drill == ".venv/bin/drillyard drill run --trainees 4 --turns 25"


def test_by_the_calendar_a_class_comes_first_and_then_a_seat_in_it(interpreter: Path, tmp_path: Path) -> None:
    lines = try_it(Path(".drillyard"), by_calendar=True, interpreter=interpreter, here=tmp_path / "clone")
    assert lines[0].startswith(".venv/bin/drillyard drill add --scenario en --in 4m ")
    assert lines[1:] == [".venv/bin/drillyard fleet status --watch", ".venv/bin/drillyard chat --drill ID"]


def test_elsewhere_the_way_is_whole(interpreter: Path, tmp_path: Path) -> None:
    chat, _ = try_it(Path(".drillyard"), interpreter=interpreter, here=tmp_path / "elsewhere")
    assert chat == f"{interpreter.with_name('drillyard')} chat"


def test_a_command_that_is_on_the_path_is_called_by_its_name(
    interpreter: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(interpreter.parent))
    assert try_it(Path(".drillyard"), interpreter=interpreter)[0] == "drillyard chat"


def test_without_the_command_the_module_is_run(interpreter: Path) -> None:
    interpreter.with_name("drillyard").unlink()
    assert try_it(Path(".drillyard"), interpreter=interpreter)[0] == f"{interpreter} -m gateway.cli.main chat"


def test_another_data_folder_is_named_and_quoted(interpreter: Path, tmp_path: Path) -> None:
    lines = try_it(Path("/my data"), interpreter=interpreter, here=tmp_path / "clone")
    assert lines[0] == ".venv/bin/drillyard chat --data '/my data'"
    assert lines[1].endswith(" --data '/my data'")
