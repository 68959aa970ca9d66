"""Turns in a file are there for the next process, whole or not at all."""

import errno
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typing_extensions import override

from sessions.adapters.local_turn_spool import LocalTurnSpool
from sessions.adapters.spool_file import SpoolFile
from sessions.domain.spooled import SpooledTurn
from sessions.errors import RecordsUnavailable
from tests.support.records_world import session, turn


def spooled(number: int) -> SpooledTurn:
    return SpooledTurn(session(), turn(number))


def left(folder: Path, name: str = "own") -> list[SpooledTurn]:
    file = SpoolFile(folder=folder, name=name)
    file.close()
    return file.found


def test_what_was_not_taken_out_is_found_by_the_next_process(tmp_path: Path) -> None:
    file = SpoolFile(folder=tmp_path, name="own")
    for number in (1, 2, 3):
        file.add(spooled(number))
    file.take_out(spooled(2), is_last=False)
    file.close()
    assert left(tmp_path) == [spooled(1), spooled(3)]
    assert left(tmp_path, "another") == [spooled(1), spooled(3)]
    assert [path.name for path in tmp_path.iterdir()] == ["another.spool"]


def test_a_file_from_which_the_last_was_taken_is_empty(tmp_path: Path) -> None:
    file = SpoolFile(folder=tmp_path, name="own")
    file.add(spooled(1))
    file.take_out(spooled(1), is_last=True)
    assert (tmp_path / "own.spool").read_bytes() == b""
    file.add(spooled(2))
    file.close()
    assert left(tmp_path) == [spooled(2)]


def test_the_file_of_a_living_process_is_left_to_it(tmp_path: Path) -> None:
    living = SpoolFile(folder=tmp_path, name="living")
    living.add(spooled(1))
    assert left(tmp_path) == []
    living.close()
    assert left(tmp_path) == [spooled(1)]


def test_two_processes_of_one_name_do_not_share_a_file(tmp_path: Path) -> None:
    living = SpoolFile(folder=tmp_path, name="own")
    with pytest.raises(BlockingIOError):
        SpoolFile(folder=tmp_path, name="own")
    living.close()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(cut=st.integers(1, 400))
def test_a_line_that_was_cut_off_costs_only_itself(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "own.spool"
    path.unlink(missing_ok=True)
    file = SpoolFile(folder=tmp_path, name="own")
    file.add(spooled(1))
    file.add(spooled(2))
    file.close()
    path.write_bytes(path.read_bytes()[:-cut])
    file = SpoolFile(folder=tmp_path, name="own")
    file.add(spooled(3))
    file.close()
    assert left(tmp_path) in ([spooled(1), spooled(2), spooled(3)], [spooled(1), spooled(3)])


def test_people_s_words_are_for_nobody_else_on_the_machine(tmp_path: Path) -> None:
    file = SpoolFile(folder=tmp_path / "spool", name="own")
    file.set_aside(spooled(1))
    file.close()
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "spool").iterdir()}
    assert modes == {"own.spool": 0o600, "own.aside": 0o600}


async def test_a_disk_that_takes_nothing_is_a_spool_that_takes_nothing(tmp_path: Path) -> None:
    class FullDisk(SpoolFile):
        @override
        def add(self, spooled: SpooledTurn) -> None:
            raise OSError(errno.ENOSPC, "no space left")

    file = FullDisk(folder=tmp_path, name="own")
    spool = LocalTurnSpool(most_turns=9, most_bytes=1 << 20, file=file)
    with pytest.raises(RecordsUnavailable):
        await spool.put(spooled(1))
    assert spool.count == 0
    file.close()


async def test_a_spool_begins_with_what_the_file_holds(tmp_path: Path) -> None:
    file = SpoolFile(folder=tmp_path, name="own")
    await LocalTurnSpool(most_turns=9, most_bytes=1 << 20, file=file).put(spooled(1))
    file.close()
    again = SpoolFile(folder=tmp_path, name="own")
    spool = LocalTurnSpool(most_turns=9, most_bytes=1 << 20, file=again)
    assert list(await spool.of(session().id)) == [spooled(1)]
    again.close()
