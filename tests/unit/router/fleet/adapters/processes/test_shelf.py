"""What is kept of orders."""

import os
from pathlib import Path

import pytest

from router.domain.fleet import ReplicaId
from router.fleet.adapters.processes.replica_shim import Process, Run, write
from router.fleet.adapters.processes.shelf import Order, Shelf, Shelved

ONE = ReplicaId("one")
RUN = Run(Process(4, 5), "boot", "0", 8000, 12, family=(Process(6, 7),))


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    shelf = Shelf(tmp_path)
    with shelf.locked(within_s=1.0):
        return shelf


def test_what_is_put_is_read_again(shelf: Shelf) -> None:
    order = Order(ONE, 1.5, slot="0", stopping=3.5)
    shelf.put(order)
    assert shelf.one(ONE) == Shelved(order, None)
    write(shelf.place(ONE) / "run.json", RUN._asdict())
    assert shelf.read() == [Shelved(order, RUN)]


def test_the_oldest_order_is_read_first(shelf: Shelf) -> None:
    for name, since in (("a", 3.0), ("b", 1.0), ("c", 2.0)):
        shelf.put(Order(ReplicaId(name), since))
    assert [one.order.id for one in shelf.read()] == ["b", "c", "a"]


def test_an_order_that_was_hardly_begun_is_none(shelf: Shelf) -> None:
    shelf.place(ONE).mkdir()
    assert shelf.one(ONE) is None
    assert shelf.read() == []
    shelf.put(Order(ONE, 1.0))
    assert shelf.one(ONE) == Shelved(Order(ONE, 1.0), None)


def test_one_host_at_a_time_works_on_it(shelf: Shelf, tmp_path: Path) -> None:
    other = Shelf(tmp_path).locked(within_s=0.05)
    with shelf.locked(within_s=0.0), pytest.raises(TimeoutError, match="another process"), other:
        pytest.fail("two at once")
    with Shelf(tmp_path).locked(within_s=0.0):
        pass


def test_the_newest_logs_of_those_that_are_gone_are_kept(shelf: Shelf) -> None:
    for number in range(60):
        log = shelf.log(ReplicaId(f"old-{number:02}"))
        log.touch()
        os.utime(log, (number, number))
    shelf.log(ONE).touch()
    os.utime(shelf.log(ONE), (0, 0))
    for replica in (ONE, ReplicaId("two")):
        shelf.put(Order(replica, 1.0))
    shelf.remove(ReplicaId("two"))
    kept = sorted(log.name for log in shelf.logs.iterdir())
    assert kept == [*(f"old-{number:02}.log" for number in range(10, 60)), "one.log"]
