"""`drillyard router` as a process of its own, in front of replicas that are there already."""

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.support.engine_process import free_port

_ROOT = Path(__file__).parents[2]
_START_S = 60.0
OPERATOR_KEY = "an-operators-key"


class RouterProcess:
    def __init__(self, arguments: list[str], *, keys: Path, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "gateway.cli.main", "router", "--port", str(port), *arguments]
        command += ["--operator-key-file", str(keys)]
        self._process = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_until_ready(self) -> None:
        deadline = time.monotonic() + _START_S
        while not self._is_ready():
            assert self._process.poll() is None, "the router ended"
            assert time.monotonic() < deadline, "the router did not become ready"
            time.sleep(0.05)

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", trust_env=False, verify=False).is_success  # noqa: S501  plain HTTP
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()


@contextmanager
def router_process(
    replicas: Mapping[str, str], settings: Mapping[str, object], folder: Path, *, port: int | None = None
) -> Iterator[RouterProcess]:
    """One that is ready."""
    keys = folder / "operators"
    keys.write_text(f"{OPERATOR_KEY}\n")
    arguments = [word for name, url in replicas.items() for word in ("--replica", f"{name}={url}")]
    arguments += [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    process = RouterProcess(arguments, keys=keys, port=free_port() if port is None else port)
    try:
        process.wait_until_ready()
        yield process
    finally:
        process.kill()
