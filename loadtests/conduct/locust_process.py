"""Locust as a process of its own: it patches what it runs in, so nothing of ours may live beside it."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self

from loadtests.conduct.order import DrillFailed
from loadtests.conduct.parent_death import ending_with
from loadtests.run_folder import RunFolder
from loadtests.target import Target
from loadtests.users.aim import AIM, RUN, Aim

LOCUSTFILE = Path(__file__).parents[1] / "locustfile.py"
_PATIENCE_S = 15.0


class LocustProcess:
    """It leads a group of its own, so that a Ctrl-C is ours alone, and it ends when this process does."""

    def __init__(self, folder: RunFolder, target: Target, *, bell_at: float, workers: int) -> None:
        self._folder = folder.path.absolute()
        self._log = self._folder / "locust.log"
        self._aim = _aim(target, bell_at).as_json()
        self._command = command(workers)
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        # A file without a name, so that no key is left on disk, however this process ends.
        aim = os.memfd_create("aim")
        os.write(aim, self._aim.encode())
        root = LOCUSTFILE.parents[1]
        path = os.pathsep.join((str(root), *filter(None, [os.environ.get("PYTHONPATH")])))
        with self._log.open("ab") as log, os.fdopen(aim):
            self._process = subprocess.Popen(  # noqa: S603  a command of our own
                self._command,
                env={**os.environ, RUN: str(self._folder), AIM: f"/proc/self/fd/{aim}", "PYTHONPATH": path},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(aim,),
                preexec_fn=ending_with(os.getpid()),  # noqa: PLW1509  one call into libc
            )
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self._running.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._running.poll()

    def stop(self) -> None:
        """Ask it to end, so that it writes what it holds; then end it."""
        for ending in (signal.SIGTERM, signal.SIGKILL):
            if self._running.poll() is None:
                self._signal(ending)
                with suppress(subprocess.TimeoutExpired):
                    self._running.wait(_PATIENCE_S)
        self._signal(signal.SIGKILL)  # a worker that outlived it

    def last_words(self) -> str:
        """The last complaint in its log, else the last line that says anything."""
        try:
            lines = self._log.read_text(errors="replace").splitlines()
        except OSError:
            return ""
        said = [line for line in lines if any(map(str.isalpha, line))]
        complaints = [line for line in said if "Error" in line or "Exception" in line]
        return next(reversed(complaints or said), "")

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("not started")
        return self._process

    def _signal(self, what: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._running.pid, what)


def require_locust() -> None:
    """Without importing it; raises `DrillFailed` where the installation came without it."""
    if find_spec("locust") is None:
        raise DrillFailed("Locust is not installed: pip install 'drillyard[load]'")


def command(workers: int) -> Sequence[str]:
    words = [sys.executable, "-m", "locust", "-f", str(LOCUSTFILE), "--headless", "--only-summary"]
    return (*words, "--processes", str(workers)) if workers > 1 else words


def _aim(target: Target, bell_at: float) -> Aim:
    return Aim(
        base_urls=target.base_urls,
        keys=target.keys,
        service_key=target.service_key,
        scenario=target.scenario,
        model=target.model,
        system=target.system,
        replicas={each.url: each.id for each in target.replicas},
        tokenize_url=next((each.url for each in target.replicas), ""),
        bell_at=bell_at,
    )
