"""Many replicas from one command, as real processes."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx

_ROOT = Path(__file__).parents[4]
_WAIT_S = 90.0
_TICKS = os.sysconf("SC_CLK_TCK")


class RunningFleet:
    def __init__(self, process: subprocess.Popen[str], members: list[dict[str, int]]) -> None:
        self.process = process
        self.ports = [member["port"] for member in members]
        self.pids = [member["pid"] for member in members]

    def wait_until_all_serve(self) -> None:
        deadline = time.monotonic() + _WAIT_S
        for port in self.ports:
            while not serves(port):
                assert time.monotonic() < deadline, f"no replica on {port}"
                time.sleep(0.05)

    def wait_until_all_are_gone(self) -> None:
        deadline = time.monotonic() + _WAIT_S
        while any(serves(port) for port in self.ports):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def cpu_s(self) -> float:
        stats = (Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split() for pid in self.pids)
        return sum(int(stat[11]) + int(stat[12]) for stat in stats) / _TICKS

    def memory_mib(self) -> float:
        """What they have for themselves, and their part of what they share."""
        rollups = (Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines() for pid in self.pids)
        return sum(int(line.split()[1]) for lines in rollups for line in lines if line.startswith("Pss:")) / 1024


def serves(port: int) -> bool:
    try:
        with closing(socket.create_connection(("127.0.0.1", port), timeout=1)):
            return True
    except OSError:
        return False


def free_run_of_ports(count: int) -> int:
    """The first of so many ports in a row that are free."""
    for first in range(21_000, 32_000, count):
        held: list[socket.socket] = []
        try:
            for port in range(first, first + count):
                held.append(socket.socket())
                held[-1].bind(("127.0.0.1", port))
        except OSError:
            continue
        finally:
            for taken in held:
                taken.close()
        return first
    raise AssertionError("no run of free ports")


@contextmanager
def fleet_of(count: int, *flags: str) -> Iterator[RunningFleet]:
    first = free_run_of_ports(count)
    command = [sys.executable, "-m", "loadtests.simulator", "fleet", str(count), "--first-port", str(first), *flags]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            yield RunningFleet(process, [json.loads(process.stdout.readline()) for _ in range(count)])
        finally:
            if process.poll() is None:
                process.terminate()


async def a_turn(client: httpx.AsyncClient, port: int) -> str:
    body = {"model": "smollm2", "messages": [{"role": "user", "content": f"Hello {port}"}], "max_tokens": 20}
    answer = await client.post(f"http://127.0.0.1:{port}/v1/chat/completions", json=body)
    reason: str = answer.raise_for_status().json()["choices"][0]["finish_reason"]
    return reason


async def test_two_hundred_replicas_serve_and_cost_nothing_while_they_idle() -> None:
    with fleet_of(200, "--profile", "cpu-smollm2", "--speed-up", "20") as fleet:
        await asyncio.to_thread(fleet.wait_until_all_serve)
        async with httpx.AsyncClient(timeout=_WAIT_S) as client:
            ended = await asyncio.gather(*(a_turn(client, port) for port in fleet.ports))
        assert set(ended) <= {"stop", "length"}
        assert fleet.memory_mib() < 6_000
        before_s = fleet.cpu_s()
        await asyncio.sleep(2)  # the time that is measured
        assert fleet.cpu_s() - before_s < 0.2
        fleet.process.terminate()
        assert await asyncio.to_thread(fleet.process.wait, _WAIT_S) == 0


def test_a_replica_that_is_lost_is_told_of_and_the_others_serve_on() -> None:
    with fleet_of(3, "--profile", "cpu-smollm2", "--speed-up", "1000") as fleet:
        fleet.wait_until_all_serve()
        os.kill(fleet.pids[1], signal.SIGKILL)
        assert fleet.process.stdout is not None
        told = json.loads(fleet.process.stdout.readline())
        assert told == {"port": fleet.ports[1], "pid": fleet.pids[1], "ended": -signal.SIGKILL}
        assert [serves(port) for port in fleet.ports] == [True, False, True]
        fleet.process.terminate()
        assert fleet.process.wait(_WAIT_S) == 1


def test_no_replica_outlives_a_command_that_was_killed() -> None:
    with fleet_of(3, "--profile", "cpu-smollm2", "--speed-up", "1000") as fleet:
        fleet.wait_until_all_serve()
        fleet.process.kill()
        fleet.wait_until_all_are_gone()
