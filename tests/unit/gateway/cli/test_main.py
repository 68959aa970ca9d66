import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.main import ENTRIES, main

ROOT = Path(__file__).parents[4]
COMMANDS = [
    *([entry.name] for entry in ENTRIES),
    *(["drill", "run"], ["db", "migrate"], ["keys", "create"], ["keys", "list"], ["keys", "revoke"]),
    *(["limits", name] for name in ("show", "set", "clear")),
]


def called(monkeypatch: pytest.MonkeyPatch, *words: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["drillyard", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    return ended.value.code


def test_help_names_every_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(monkeypatch, "--help") == 0
    told = capsys.readouterr().out
    assert all(entry.name in told for entry in ENTRIES)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(monkeypatch, *words, "--help") == 0
    told = capsys.readouterr().out
    assert f"Usage: drillyard {' '.join(words)}" in told


def test_help_loads_no_command() -> None:
    code = (
        "import sys; sys.argv = ['drillyard', '--help']\n"
        "from gateway.cli.main import main\n"
        "try:\n    main()\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'httpx', 'sqlalchemy', 'fastapi', 'alembic', 'pydantic_settings'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_version_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert called(monkeypatch, "--version") == 0
    assert capsys.readouterr().out.startswith("drillyard ")


def test_an_unknown_command_is_wrong_usage_with_the_nearest_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(monkeypatch, "drlil") == 2
    assert "drill" in capsys.readouterr().err


def test_a_command_runs_as_a_module_too() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "gateway.cli.main", "--version"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
