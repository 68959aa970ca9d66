"""Simulated replicas as processes of their own, driven through their admin port."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.support.engine_process import free_port

_ROOT = Path(__file__).parents[2]
_START_S = 60.0
_END_S = 30.0


class SimulatorProcess:
    """One `drillyard sim serve`; `admin` reaches it also while its port is closed."""

    def __init__(self, *arguments: str, dev_mode: bool = False) -> None:
        self.port, self.admin_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx.Client(base_url=self.url, timeout=20.0, trust_env=False)
        self.admin = httpx.Client(base_url=f"http://127.0.0.1:{self.admin_port}", timeout=20.0, trust_env=False)
        ports = ("--port", str(self.port), "--admin-port", str(self.admin_port))
        self._process = subprocess.Popen(
            [sys.executable, "-m", "loadtests.simulator", "serve", *ports, *arguments],
            cwd=_ROOT,
            env={**os.environ, "VLLM_SERVER_DEV_MODE": "1" if dev_mode else "0"},
            stderr=subprocess.DEVNULL,
        )

    @property
    def phase(self) -> str:
        """What its admin port says; `gone` where none answers."""
        try:
            phase: str = self.admin.get("/sim/state").json()["phase"]
        except httpx.TransportError:
            return "gone"
        return phase

    def wait_until(self, phase: str) -> None:
        deadline = time.monotonic() + _START_S
        while self.phase != phase:
            assert self._process.poll() is None, "the simulator ended"
            assert time.monotonic() < deadline, f"the simulator did not become {phase}"
            time.sleep(0.01)
        self._wait_for_port()

    def fault(self, **fields: object) -> str:
        """Add a fault; its id."""
        answer = self.admin.post("/sim/faults", json=fields)
        assert answer.status_code == httpx.codes.CREATED, answer.text
        known: str = answer.json()["id"]
        return known

    def clear_faults(self) -> None:
        self.admin.delete("/sim/faults").raise_for_status()

    def script(self, *replies: object) -> None:
        """Replies for every conversation, turn by turn, or whole rules."""
        rules = replies if replies and isinstance(replies[0], dict) and "replies" in replies[0] else None
        content = {"replies": rules if rules is not None else [{"replies": list(replies)}]}
        self.admin.put("/sim/script", json=content).raise_for_status()

    def requests(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.admin.get("/sim/requests").json()
        return found

    def state(self) -> dict[str, Any]:
        found: dict[str, Any] = self.admin.get("/sim/state").json()
        return found

    def metric(self, name: str) -> float:
        lines = self.client.get("/metrics").text.splitlines()
        return float(next(line.rsplit(" ", 1)[1] for line in lines if line.startswith(f"{name}{{")))

    def reset(self) -> None:
        self.admin.post("/sim/reset").raise_for_status()

    def terminate(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End at once and reap; killing twice is nothing."""
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def wait_for_end(self) -> int:
        return self._process.wait(_END_S)

    def close(self) -> None:
        self.client.close()
        self.admin.close()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    def _wait_for_port(self) -> None:
        deadline = time.monotonic() + _START_S
        while True:
            try:
                self.client.get("/version")
            except httpx.TransportError:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            else:
                return


@contextmanager
def simulator(*arguments: str, dev_mode: bool = False) -> Iterator[SimulatorProcess]:
    """One that serves; by default 20 times as fast as real time, with next to no loading."""
    own = () if "--speed-up" in arguments else ("--speed-up", "20")
    loading = () if "--load-s" in arguments else ("--load-s", "0.1")
    process = SimulatorProcess(*own, *loading, *arguments, dev_mode=dev_mode)
    try:
        process.wait_until("ready")
        yield process
    finally:
        process.close()


def chat(text: str = "Hello?", **fields: object) -> dict[str, object]:
    return {"model": "smollm2", "messages": [{"role": "user", "content": text}], **fields}


def events(lines: Iterator[str]) -> Iterator[str]:
    """The `data` of a stream's events."""
    return (line.removeprefix("data: ") for line in lines if line.startswith("data: "))


def streamed(process: SimulatorProcess, body: dict[str, object]) -> list[str]:
    """All events of one stream."""
    with process.client.stream("POST", "/v1/chat/completions", json={**body, "stream": True}) as answer:
        assert answer.status_code == httpx.codes.OK, answer.read()
        return list(events(answer.iter_lines()))


def text_of(said: list[str]) -> str:
    choices = [choice for event in said if event != "[DONE]" for choice in json.loads(event).get("choices", ())]
    return "".join(choice["delta"].get("content", "") for choice in choices)


def finish_of(said: list[str]) -> str | None:
    choices = [choice for event in said if event != "[DONE]" for choice in json.loads(event).get("choices", ())]
    return next((choice["finish_reason"] for choice in choices if choice["finish_reason"]), None)
