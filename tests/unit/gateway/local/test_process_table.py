import os
import sys
from pathlib import Path

from gateway.local import process_table
from gateway.local.process import Command, start
from tests.unit.gateway.local.conftest import Script


def test_we_are_in_the_table_ourselves() -> None:
    found = process_table.entry(os.getpid())
    assert found is not None
    assert (found.parent, found.group, found.zombie) == (os.getppid(), os.getpgrp(), False)


def test_a_number_nobody_has_gives_nothing() -> None:
    assert process_table.entry(2**22 + 1) is None


def test_two_looks_at_one_process_see_the_same_beginning() -> None:
    assert process_table.entry(os.getpid()) == process_table.entry(os.getpid())


def test_a_name_with_parentheses_does_not_shift_the_fields(script: Script) -> None:
    child = start(
        script("import ctypes, time\nctypes.CDLL(None).prctl(15, b'a) R 1 2 (')\nprint(1, flush=True)\ntime.sleep(99)")
    )
    while not child.command.log.read_text():
        assert child.exit_code() is None
    found = process_table.entry(child.pid)
    child.stop()
    assert found is not None
    assert (found.parent, found.group) == (os.getpid(), child.pid)


def test_members_are_the_living_of_a_group(script: Script) -> None:
    child = start(script("import time; time.sleep(99)"))
    assert [one.pid for one in process_table.members(child.pid)] == [child.pid]
    child.stop()
    assert process_table.members(child.pid) == []


def test_a_program_is_found_by_its_working_folder(tmp_path: Path) -> None:
    command = Command(
        name="x", argv=(sys.executable, "-S", "-c", "import time; time.sleep(99)"), log=tmp_path / "x", cwd=tmp_path
    )
    child = start(command)
    program = Path(sys.executable).resolve().name
    while Path(f"/proc/{child.pid}/exe").readlink().name != program:
        assert child.exit_code() is None
    found = process_table.working_in(tmp_path, program=program)
    elsewhere = process_table.working_in(tmp_path, program="postgres")
    child.stop()
    assert found == [child.pid]
    assert elsewhere == []
