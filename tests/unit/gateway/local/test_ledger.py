import json
import os
import signal
from pathlib import Path

import pytest

from gateway.local import process_table
from gateway.local.children import Children
from gateway.local.ledger import Ledger
from gateway.local.process import Child, start
from tests.unit.gateway.local.conftest import Script

SLEEP = "import time; time.sleep(99)"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "pids.json"


def rows(file: Path) -> list[dict[str, object]]:
    found = json.loads(file.read_text())["processes"]
    assert isinstance(found, list)
    return found


def forge(file: Path, child: Child, **changes: object) -> None:
    Ledger(file).note([child])
    content = json.loads(file.read_text())
    content["processes"] = [row | changes for row in content["processes"]]
    file.write_text(json.dumps(content))


def test_what_runs_is_noted_for_its_owner_alone(file: Path, script: Script, children: Children) -> None:
    child = children.start(script(SLEEP, name="redis"))
    Ledger(file).note([child])
    (row,) = rows(file)
    assert (row["name"], row["pid"], row["group"]) == ("redis", child.pid, child.pid)
    assert file.stat().st_mode & 0o777 == 0o600


def test_what_an_earlier_run_left_is_ended(file: Path, script: Script) -> None:
    child = start(script(SLEEP, name="redis"))
    Ledger(file).note([child])
    assert Ledger(file).end_leftovers() == ("redis",)
    assert child.finish() == -signal.SIGTERM
    assert rows(file) == []


def test_descendants_are_ended_though_their_leader_is_gone(file: Path, script: Script) -> None:
    code = (
        f"import subprocess, sys\nprint(subprocess.Popen([sys.executable, '-S', '-c', {SLEEP!r}]).pid, flush=True)\n"
        + SLEEP
    )
    child = start(script(code, name="replica-1"))
    while not child.command.log.read_text().endswith("\n"):
        assert child.exit_code() is None
    Ledger(file).note([child])
    os.kill(child.pid, signal.SIGKILL)
    while child.exit_code() is None:
        pass
    assert Ledger(file).end_leftovers() == ("replica-1",)
    grandchild = process_table.entry(int(child.command.log.read_text()))
    assert grandchild is None or grandchild.zombie
    child.finish()


def test_a_stubborn_leftover_is_killed(file: Path, script: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.local.ledger._GRACE_S", 0.1)
    child = start(
        script("import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint(1, flush=True)\n" + SLEEP)
    )
    while not child.command.log.read_text():
        assert child.exit_code() is None
    Ledger(file).note([child])
    Ledger(file).end_leftovers()
    assert child.finish() == -signal.SIGKILL


def test_a_stranger_with_the_same_number_is_left_alone(file: Path, script: Script, children: Children) -> None:
    child = children.start(script(SLEEP))
    forge(file, child, started=child.started + 1)
    assert Ledger(file).end_leftovers() == ()
    assert child.exit_code() is None


def test_numbers_of_an_earlier_boot_mean_nothing(file: Path, script: Script, children: Children) -> None:
    child = children.start(script(SLEEP))
    Ledger(file).note([child])
    file.write_text(json.dumps(json.loads(file.read_text()) | {"boot": "another"}))
    assert Ledger(file).end_leftovers() == ()
    assert child.exit_code() is None


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"boot": null, "processes": 3}', '{"processes": [{}]}'])
def test_a_note_that_cannot_be_read_is_passed_over(file: Path, text: str) -> None:
    file.write_text(text)
    assert Ledger(file).end_leftovers() == ()


def test_an_unchanged_state_is_not_written_again(file: Path, script: Script, children: Children) -> None:
    child = children.start(script(SLEEP))
    ledger = Ledger(file)
    ledger.note([child])
    before = file.stat().st_ino
    ledger.note([child])
    assert file.stat().st_ino == before
