"""The promises of every host, and what happens to those that stand on real processes of this machine."""

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from router.domain.fleet import ReplicaId
from router.fleet.adapters.processes.replica_shim import entry, living, write
from router.fleet.adapters.processes.shelf import Order
from router.fleet.domain.hosted import HostPhase
from router.fleet.errors import HostUnavailable
from tests.contract.router.fleet.host_promises import HostPromises
from tests.support.eventually import eventually
from tests.support.process_house import DEAF, PATIENCE_S, SLEEPS, ProcessHouse, lives, process_house

ONE, TWO = ReplicaId("one"), ReplicaId("two")
ROOT = Path(__file__).parents[4]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[ProcessHouse]:
    async with process_house(tmp_path / "shelf") as house:
        yield house


class TestProcessHost(HostPromises):
    pass


def process(words: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(words, cwd=ROOT, **options)


CONTROLLER = """
import asyncio, resource, sys, time
if sys.argv[3:]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # every write fails, as on a disk that is full
from router.fleet.adapters.processes.process_host import ProcessHost
from router.fleet.settings import ProcessHostSettings
settings = ProcessHostSettings.model_validate_json(sys.argv[1])
asyncio.run(getattr(ProcessHost(settings=settings), sys.argv[2])("one", among=1))
print("done", flush=True)
time.sleep(600)
"""


async def test_a_controller_that_is_killed_takes_no_replica_with_it(house: ProcessHouse) -> None:
    words = [sys.executable, "-c", CONTROLLER, house.settings.model_dump_json(), "start"]
    controller = process(words, stdout=subprocess.PIPE, start_new_session=True)
    with controller:
        assert controller.stdout is not None
        assert await asyncio.to_thread(controller.stdout.readline) == b"done\n"
        os.killpg(controller.pid, signal.SIGKILL)  # as hard as it gets: with its whole group
    (found,) = await house.host.list()
    assert (found.id, found.phase) == (ONE, HostPhase.RUNNING)
    run = house.run(ONE)
    await house.host.start(ONE, among=1)
    assert house.run(ONE) == run
    assert all(lives(one.pid) for one in (run.shim, *run.family))
    await house.host.stop(ONE, among=0)
    await house.settle()
    assert not any(lives(one.pid) for one in (run.shim, *run.family))


FAMILY = """
import subprocess, sys, time
sleep = [sys.executable, '-S', '-c', 'import time\\ntime.sleep(600)']
print(subprocess.Popen(sleep).pid, subprocess.Popen(sleep, start_new_session=True).pid, 'born')
"""


async def family_of(house: ProcessHouse) -> set[int]:
    """The children of an engine: one in its group, one in a session of its own; its shim knows both."""
    first, second = (await house.until_said("one", "born")).split()[:2]
    children = {int(first), int(second)}
    await eventually(lambda: children <= {one.pid for one in house.run(ONE).family}, within_s=PATIENCE_S)
    return children


async def test_no_child_of_an_engine_outlives_a_shim_that_was_killed(tmp_path: Path) -> None:
    async with process_house(tmp_path, engine=FAMILY + "time.sleep(600)") as house:
        run = await house.started()
        children = await family_of(house)
        engine = next(one.process.pid for one in living() if one.parent == run.shim.pid)
        os.kill(run.shim.pid, signal.SIGKILL)
        await eventually(lambda: not lives(engine), within_s=PATIENCE_S)  # by the kernel: nobody has looked yet
        (found,) = await house.until(lambda listed: listed[0].phase is HostPhase.EXITED)
        assert "killed" in found.detail
        await house.until(lambda _: not any(map(lives, children)))
        assert not any(lives(one.pid) for one in run.family)


async def test_no_child_outlives_an_engine_that_ended_and_its_last_words_are_told(tmp_path: Path) -> None:
    waits = "import os\nwhile not os.path.exists('../go'): time.sleep(0.01)\n"
    ends = waits + "print('ValueError: no card is left')\nprint('bye')\nsys.exit(3)"
    async with process_house(tmp_path, engine=FAMILY + ends) as house:
        await house.started()
        children = await family_of(house)
        (house.folder / "go").touch()
        (found,) = await house.until(lambda listed: listed[0].phase is HostPhase.EXITED)
        assert found.detail == "exit code 3: ValueError: no card is left"
        assert not any(map(lives, children))


LEAVES_ORPHANS = """
import subprocess, time
for _ in range(3):
    subprocess.run(['sh', '-c', 'sleep 0.1 & echo $!'])
print('left')
time.sleep(600)
"""


async def test_orphans_of_a_living_engine_are_laid_to_rest(tmp_path: Path) -> None:
    async with process_house(tmp_path, engine=LEAVES_ORPHANS) as house:
        run = await house.started()
        orphans = [int(pid) for pid in (await house.until_said("one", "left")).split()[:3]]
        await eventually(lambda: not any(map(entry, orphans)), within_s=PATIENCE_S)
        assert lives(run.shim.pid)


async def test_an_engine_that_does_not_listen_is_killed_after_its_grace(tmp_path: Path) -> None:
    async with process_house(tmp_path, engine=DEAF, grace_s=0.5) as house:
        run = await house.started()
        await house.until_said("one", "deaf")
        await house.host.stop(ONE, among=0)
        assert [each.phase for each in await house.host.list()] == [HostPhase.STOPPING]
        await house.until(lambda listed: not listed)
        assert not any(lives(one.pid) for one in (run.shim, *run.family))


async def test_a_shim_that_stands_still_is_killed_when_it_is_late(house: ProcessHouse) -> None:
    run = await house.started()
    os.kill(run.shim.pid, signal.SIGSTOP)
    await house.host.stop(ONE, among=0)
    assert lives(run.shim.pid)
    late = house.another(ahead_s=60.0)
    await late.list()
    await house.until(lambda listed: not listed)
    assert not any(lives(one.pid) for one in (run.shim, *run.family))


async def test_one_that_finds_its_port_taken_says_so(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        engine = f"import socket\nsocket.create_server({holder.getsockname()!r})"
        async with process_house(tmp_path, engine=engine) as house:
            await house.started()
            (found,) = await house.until(lambda listed: listed[0].phase is HostPhase.EXITED)
    assert found.detail.startswith("exit code 1: OSError: [Errno 98] Address already in use")


LISTENS = "import socket, time\nserver = socket.create_server(('127.0.0.1', {port}))\nprint('listens')\ntime.sleep(600)"


async def test_a_port_is_kept_free_until_the_engine_takes_it(house: ProcessHouse, tmp_path: Path) -> None:
    run = await house.started()
    with socket.socket() as stranger, pytest.raises(OSError, match="in use"):
        stranger.bind(("127.0.0.1", run.port))
    async with process_house(tmp_path / "other", engine=LISTENS) as other:
        run = await other.started()
        await other.until_said("one", "listens")
        socket.create_connection(("127.0.0.1", run.port)).close()


async def test_what_waits_for_a_slot_is_started_when_one_is_free(tmp_path: Path) -> None:
    async with process_house(tmp_path, slots=["7"], engine="print('slot {slot}')\n" + SLEEPS) as house:
        await house.host.start(ONE, among=1)
        await house.host.start(TWO, among=2)
        _, waits = await house.host.list()
        assert (waits.phase, waits.detail) == (HostPhase.PENDING, "no slot is free: 1 are in use")
        await house.host.stop(ONE, among=1)
        (runs,) = await house.until(lambda listed: [each.phase for each in listed] == [HostPhase.RUNNING])
        assert runs.id == TWO
        assert "slot 7" in await house.until_said(TWO, "slot")


async def test_two_controllers_at_once_start_each_once_and_give_each_slot_once(house: ProcessHouse) -> None:
    hosts = [house.another(patience_s=PATIENCE_S) for _ in range(4)]
    names = [ReplicaId(name) for name in ("a", "b", "c")]
    await asyncio.gather(*(host.start(name, among=3) for host in hosts for name in names))
    await house.settle()
    runs = [house.run(name) for name in names]
    assert {run.slot for run in runs} == {"a", "b", "c"}
    assert len({run.port for run in runs}) == 3
    assert all(lives(run.shim.pid) for run in runs)


async def test_an_order_that_was_noted_and_no_more_is_carried_out_by_the_next_look(house: ProcessHouse) -> None:
    assert await house.host.list() == []
    house.shelf.put(Order(ONE, 1.0, slot="b"))
    await house.settle()
    assert house.run(ONE).slot == "b"


async def test_a_stop_that_was_noted_and_no_more_is_carried_out_by_the_next_look(house: ProcessHouse) -> None:
    run = await house.started()
    house.shelf.put(Order(ONE, 1.0, slot=run.slot, stopping=2.0))
    await house.until(lambda listed: not listed)
    assert not lives(run.shim.pid)


async def test_a_stranger_with_the_number_of_a_dead_one_is_left_alone(house: ProcessHouse) -> None:
    run = await house.started()
    await house.kill(ONE)
    await eventually(lambda: not lives(run.shim.pid), within_s=PATIENCE_S)
    stranger = process([sys.executable, "-S", "-c", SLEEPS])
    try:
        same_number = run.shim._replace(pid=stranger.pid)
        file = house.shelf.place(ONE) / "run.json"
        write(file, run._replace(shim=same_number, family=(same_number,))._asdict())
        assert [each.phase for each in await house.host.list()] == [HostPhase.EXITED]
        await house.host.stop(ONE, among=0)
        await house.settle()
        assert await house.host.list() == []
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


async def refused_on_a_full_disk(house: ProcessHouse, what: str) -> str:
    words = [sys.executable, "-c", CONTROLLER, house.settings.model_dump_json(), what, "full"]
    with process(words, stderr=subprocess.PIPE) as controller:
        assert controller.stderr is not None
        said = (await asyncio.to_thread(controller.stderr.read)).decode()
    return said.splitlines()[-1]


async def test_where_nothing_can_be_written_nothing_is_started(house: ProcessHouse) -> None:
    assert "HostUnavailable: processes of this machine: " in await refused_on_a_full_disk(house, "start")
    assert await house.host.list() == []
    assert (await house.started()).slot == "a"


async def test_where_nothing_can_be_written_one_can_be_stopped_all_the_same(house: ProcessHouse) -> None:
    run = await house.started()
    assert "HostUnavailable: processes of this machine: " in await refused_on_a_full_disk(house, "stop")
    await eventually(lambda: not lives(run.shim.pid), within_s=PATIENCE_S)
    await house.host.stop(ONE, among=0)
    assert await house.host.list() == []


async def test_one_whose_folder_is_deleted_ends_and_one_whose_folder_is_moved_does_not(tmp_path: Path) -> None:
    async with process_house(tmp_path / "moved") as moved, process_house(tmp_path / "deleted") as deleted:
        stays, goes = await moved.started(), await deleted.started()
        moved.folder.rename(tmp_path / "elsewhere")
        shutil.rmtree(deleted.folder)
        await eventually(lambda: not lives(goes.shim.pid), within_s=PATIENCE_S)
        assert not any(lives(one.pid) for one in goes.family)
        assert lives(stays.shim.pid)
        (tmp_path / "elsewhere").rename(moved.folder)


@pytest.mark.parametrize("file", ["order.json", "run.json"])
async def test_a_note_that_cannot_be_read_hides_no_other_and_costs_no_slot_twice(
    house: ProcessHouse, file: str
) -> None:
    run = await house.started(ONE)
    spoiled = house.shelf.place(ONE) / file
    before = spoiled.read_bytes()
    spoiled.write_bytes(b"{")
    await house.host.start(TWO, among=2)
    await house.until(lambda listed: TWO in {each.id for each in listed})
    assert house.run(TWO).slot != run.slot or file == "run.json"
    if file == "run.json":
        with pytest.raises(HostUnavailable, match="cannot be read"):
            await house.host.stop(ONE, among=0)
        spoiled.write_bytes(before)
    await house.host.stop(ONE, among=0)
    await house.until(lambda listed: [each.id for each in listed] == [TWO])
    assert not lives(run.shim.pid)


async def test_a_note_of_a_dead_one_that_cannot_be_read_is_thrown_away(house: ProcessHouse) -> None:
    await house.started()
    await house.kill(ONE)
    await eventually(lambda: not lives(house.run(ONE).shim.pid), within_s=PATIENCE_S)
    for file in ("order.json", "run.json"):
        (house.shelf.place(ONE) / file).write_bytes(b"\xff")
    assert await house.host.list() == []
    await house.host.stop(ONE, among=0)
    assert not house.shelf.place(ONE).exists()


async def test_no_file_lies_where_an_id_would_lead(house: ProcessHouse) -> None:
    with pytest.raises(HostUnavailable, match="is no id"):
        await house.host.start(ReplicaId("../elsewhere"), among=1)
    assert await house.host.list() == []


async def test_a_command_that_is_not_there_is_told(house: ProcessHouse) -> None:
    house.settings = house.settings.model_copy(update={"command": ("/no/such/vllm", "serve")})
    house.host = house.another()
    await house.started()
    (found,) = await house.host.list()
    assert found.phase is HostPhase.EXITED
    assert found.detail == "it cannot be started: [Errno 2] No such file or directory: '/no/such/vllm'"
