"""A whole Drillyard of a drill's own: `drillyard up` with its data in a folder that is gone afterwards."""

import json
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import IO

from typing_extensions import override

from loadtests.conduct.own_folder import own_folder
from loadtests.conduct.parent_death import ending_with
from loadtests.domain.told_replies import script_of_replies

_READY_WITHIN_S = 900.0
_ENDS_WITHIN_S = 90.0
_LAST_WORDS = 8
_MOST_REPLICAS = 64
_MOST_REPLY_TOKENS = 4096
_OF_THE_MACHINE = frozenset({"DRILLYARD_REDIS_SERVER", "DRILLYARD_POSTGRES_BIN", "DRILLYARD_CACHE"})

ONE_CALLER_FOR_ALL = {
    "DRILLYARD_LIMITS__ROLES": json.dumps(
        {"service": dict.fromkeys(("requests_per_minute", "request_burst", "turns_in_flight"), "unlimited")}
    )
}
"""For a class that chats, and so calls with the one key of a service, whose limits are not what is tried."""

Say = Callable[[str], None]


class ReplicaKind(StrEnum):
    SIM = "sim"
    VLLM = "vllm"


@dataclass(frozen=True, slots=True, kw_only=True)
class StackPlan:
    """`is_prescaled` False: no replica runs until a class is booked, and then none before its bell."""

    kind: ReplicaKind = ReplicaKind.SIM
    replicas: int = 2
    profile: str = "48gb-14b-after"
    """Of simulated replicas: a bundled one's name, or the path of a file."""
    speed_up: float = 1.0
    """Of simulated replicas."""
    reply_tokens: int | None = None
    """Of simulated replicas: their replies are about so long. None: one to four sentences."""
    window_tokens: int = 4096
    model: Path | None = None
    """A folder; None: the bundled small one, whose tokenizer simulated replicas use too."""
    is_prescaled: bool = True
    seats_per_replica: int = 35
    """Without pre-scaling: by it the controller knows how many replicas a class needs."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Settings of the product, `DRILLYARD_...`; those of our own environment do not reach the stack."""

    @override
    def __str__(self) -> str:
        kind = f"{self.kind}:{self.replicas}"
        if self.kind is ReplicaKind.SIM:
            kind += f":{self.profile}" + (f":{self.reply_tokens}" if self.reply_tokens else "")
        return kind if self.is_prescaled else f"{kind}, not pre-scaled"


class UnknownFleet(ValueError):
    """Words that name no fleet; says why."""


class StackFailed(Exception):
    """The stack did not come up, or is gone; with its last words."""


@dataclass(frozen=True, slots=True)
class RunningStack:
    data: Path
    """As `--data` of every other command takes it; the ready file lies in it."""
    plan: StackPlan

    @property
    def ready_file(self) -> Path:
        return self.data / "ready.json"

    @property
    def logs(self) -> Path:
        return self.data / "logs"

    def ready(self) -> Mapping[str, object]:
        """Addresses, keys and the process numbers of this moment; raises `StackFailed`."""
        return read_ready(self.ready_file)


def read_ready(file: Path) -> Mapping[str, object]:
    """What the ready file of a running stack says now: it is written anew whenever a process is started again."""
    try:
        told = json.loads(file.read_text())
    except (OSError, ValueError) as error:
        raise StackFailed(f"no stack runs behind {file}: {error}") from error
    if not isinstance(told, dict):
        raise StackFailed(f"{file} is no ready file")
    return told


def pids_in(ready: Mapping[str, object]) -> dict[str, int]:
    """Of each process, by its name; nothing where the file does not say."""
    found = ready.get("pids")
    pids = found if isinstance(found, dict) else {}
    return {str(name): pid for name, pid in pids.items() if isinstance(pid, int)}


def plan_of(words: str) -> StackPlan:
    """The plan that `sim:9`, `sim:9:48gb-14b-after`, `sim:9:48gb-14b-after:100` or `vllm:2` names.

    The last number is how long simulated replies are. Raises `UnknownFleet`.
    """
    kind, count, profile, tokens, *more = (*words.split(":"), "", "", "")[: max(4, words.count(":") + 1)]
    if kind not in tuple(ReplicaKind) or more or not count:
        raise UnknownFleet(f"{words}: a fleet is sim:N, sim:N:PROFILE, sim:N:PROFILE:REPLY_TOKENS or vllm:N")
    if (profile or tokens) and kind != ReplicaKind.SIM:
        raise UnknownFleet(f"{words}: only simulated replicas have a profile and told replies")
    replicas = _number(words, count, "replicas", most=_MOST_REPLICAS)
    reply_tokens = _number(words, tokens, "tokens", most=_MOST_REPLY_TOKENS) if tokens else None
    plan = StackPlan(kind=ReplicaKind(kind), replicas=replicas, reply_tokens=reply_tokens)
    return replace(plan, profile=profile) if profile else plan


def _number(words: str, written: str, what: str, *, most: int) -> int:
    if not (written.isascii() and written.isdigit() and 1 <= int(written) <= most):
        raise UnknownFleet(f"{words}: {written or 'nothing'} is no number of {what} from 1 to {most}")
    return int(written)


@contextmanager
def own_stack(plan: StackPlan, *, say: Say) -> Iterator[RunningStack]:
    """Run it until the block ends; it ends too when this process is killed. To be entered by the main thread."""
    with own_folder("drillyard-load-") as folder:
        stack = RunningStack(folder.path / "data", plan)
        environment = dict(plan.environment)
        if plan.reply_tokens is not None:
            script = folder.path / "script.json"
            script.write_text(json.dumps(script_of_replies(plan.reply_tokens)))
            environment["DRILLYARD_SIM_SCRIPT"] = str(script)
        heard: deque[str] = deque(maxlen=_LAST_WORDS)
        with _started(plan, stack.data, environment, hold=folder.hold) as process:
            assert process.stdout is not None  # noqa: S101
            listener = threading.Thread(target=_listen, args=(process.stdout, heard, say), daemon=True)
            listener.start()
            try:
                if not _is_ready(process, stack):
                    listener.join(_ENDS_WITHIN_S)
                    raise StackFailed("\n".join(("the stack did not come up:", *heard)))
                yield stack
            finally:
                _end(process)
                listener.join(_ENDS_WITHIN_S)


def command(plan: StackPlan, data: Path) -> tuple[str, ...]:
    words = [sys.executable, "-m", "gateway.cli.main", "up", "--data", str(data), "--port", "0"]
    words += ["--replica-kind", plan.kind.value, "--replicas", str(plan.replicas), "--window", str(plan.window_tokens)]
    if plan.kind is ReplicaKind.SIM:
        words += ["--profile", plan.profile, "--speed-up", f"{plan.speed_up:g}"]
    if plan.model is not None:
        words += ["--model", str(plan.model)]
    if not plan.is_prescaled:
        words += ["--by-calendar", "--lead", "0", "--seats", str(plan.seats_per_replica)]
    return tuple(words)


def _started(plan: StackPlan, data: Path, environment: Mapping[str, str], *, hold: int) -> subprocess.Popen[str]:
    ours = {name: value for name, value in os.environ.items() if _is_handed_on(name)}
    return subprocess.Popen(  # noqa: S603  a command of our own
        command(plan, data),
        env={**ours, "COLUMNS": "200", **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        pass_fds=(hold,),
        start_new_session=True,  # a Ctrl-C is ours: the stack ends after what is measured
        preexec_fn=ending_with(os.getpid()),  # noqa: PLW1509  one call into libc
    )


def _is_handed_on(name: str) -> bool:
    return not name.startswith("DRILLYARD_") or name in _OF_THE_MACHINE


def _listen(stream: IO[str], heard: deque[str], say: Say) -> None:
    """Progress alone: what `up` announces once it is ready holds keys, which belong into no log."""
    is_announcing = False
    for line in stream:
        words = line.strip()
        is_announcing = is_announcing or words.startswith("Drillyard is ready")
        if words and not is_announcing:
            heard.append(words)
            say(words)
        is_announcing = is_announcing and not words.startswith("Ctrl-C stops everything")


def _is_ready(process: subprocess.Popen[str], stack: RunningStack) -> bool:
    """Waits; False once the process has ended instead."""
    deadline = time.monotonic() + _READY_WITHIN_S
    while not stack.ready_file.exists():
        if process.poll() is not None:
            return False
        if time.monotonic() > deadline:
            raise StackFailed(f"the stack was not ready after {_READY_WITHIN_S:.0f} s")
        time.sleep(0.05)
    return True


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()  # its children end with it
        process.wait()
