"""How each fault is done to a stack of this machine, and how to see that what was broken answers again.

Processes are found by the ready file of their stack, read anew for each fault. `up` keeps the number of a child that
has died to itself until it starts another and writes that one's number down, so no stranger can have it.
"""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote, urlsplit

import httpx

from loadtests.conduct.faults import BY_SIMULATOR, OF_A_REPLICA, Fault, FaultKind
from loadtests.conduct.stack import StackFailed, pids_in, read_ready
from loadtests.conduct.standstill import standing_still
from loadtests.domain.engine_metrics import engine_load
from loadtests.target import Target

_PATIENCE_S = 5.0
_ORDERED_WITHIN_S = 30.0
_SLOWNESS = 4.0
_CLASS = timedelta(hours=2)
_SIGNALS = {
    FaultKind.KILL: signal.SIGKILL,
    FaultKind.SIGTERM: signal.SIGTERM,
    FaultKind.REDIS_RESTART: signal.SIGTERM,
    FaultKind.POSTGRES_RESTART: signal.SIGINT,  # which waits for no client
    FaultKind.GATEWAY_KILL: signal.SIGKILL,
}

BUSIEST = "busiest"
"""Instead of a replica's id: whichever has most requests when the fault is due."""

Answers = Callable[[], bool]
"""Asks once whether what was broken answers again."""


class NotBroken(Exception):
    """A fault could not be caused; says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Where faults are done. Without a ready file of this machine only what an operator may do is possible."""

    base_url: str
    operator_key: str | None = field(default=None, repr=False)
    ready_file: Path | None = None

    @staticmethod
    def of(target: Target) -> "Scene":
        return Scene(base_url=target.base_url, operator_key=target.operator_key, ready_file=target.ready_file)

    def lacks(self, fault: Fault) -> str | None:
        """Why this fault cannot be caused here, None if it can."""
        if fault.kind is FaultKind.DRAIN:
            return None if self.operator_key else "a drain needs an operator's key"
        if self.ready_file is None:
            return "`drillyard up` does not run this fleet on this machine"
        return _lacks(fault, read_ready(self.ready_file))


def meant(fault: Fault, scene: Scene) -> Fault:
    """The fault with the replica that it concerns now, by what each tells of its requests."""
    if fault.target != BUSIEST:
        return fault
    replicas = _replicas(_ready(scene))
    return replace(
        fault, target=max(replicas, key=lambda name: _requests_at(str(replicas[name]["url"])), default=BUSIEST)
    )


def broken(fault: Fault, scene: Scene) -> AbstractContextManager[Answers]:
    """It is broken inside; what does not end by itself is undone at the end. Raises `NotBroken`."""
    if (reason := scene.lacks(fault)) is not None:
        raise NotBroken(reason)
    match fault.kind:
        case FaultKind.DRAIN:
            return _drained(fault, scene)
        case FaultKind.PARTITION | FaultKind.SLOW:
            return _simulated(fault, scene)
        case FaultKind.FREEZE:
            return _standing_still(fault, scene)
        case FaultKind.REDIS_FLUSH:
            return _flushed(scene)
        case FaultKind.LATE_BOOKING:
            return _booked(fault, scene)
        case _:
            return _ended(fault, scene)


def _lacks(fault: Fault, ready: Mapping[str, object]) -> str | None:
    there = _replicas(ready)
    if fault.kind in OF_A_REPLICA and fault.target not in {*there, *([BUSIEST] if there else ())}:
        return f"there is no {fault.target}, but {', '.join(there) or 'no replica that runs all the time'}"
    if fault.kind in BY_SIMULATOR and there.get(fault.target, {}).get("kind", "sim") != "sim":
        return f"{fault.target} is no simulated replica"
    return None


@contextmanager
def _drained(fault: Fault, scene: Scene) -> Iterator[Answers]:
    url = f"{scene.base_url}/v1/fleet/replicas/{quote(fault.target, safe='')}"
    headers = {"Authorization": f"Bearer {scene.operator_key}"}
    _asked("POST", f"{url}/drain", headers=headers)
    try:
        yield lambda: _told(url, headers).get("is_draining") is False
    finally:
        _asked("DELETE", f"{url}/drain", headers=headers)


@contextmanager
def _simulated(fault: Fault, scene: Scene) -> Iterator[Answers]:
    """It is told how long at once: nobody can reach it to take a partition back."""
    url = _url(_ready(scene), fault.target)
    what = {"kind": fault.kind.value, "factor": _SLOWNESS, "for_s": fault.lasts_s}
    _asked("POST", f"{url}/sim/faults", json=what)
    yield lambda: _is_healthy(url)


@contextmanager
def _standing_still(fault: Fault, scene: Scene) -> Iterator[Answers]:
    ready = _ready(scene)
    group = _running(ready, fault.target)
    with standing_still(group):
        yield lambda: _is_healthy(_url(ready, fault.target))


@contextmanager
def _flushed(scene: Scene) -> Iterator[Answers]:
    ready = _ready(scene)
    place = urlsplit(str(ready["redis_url"]))
    with socket.create_connection((place.hostname, place.port), timeout=_PATIENCE_S) as connection:
        connection.sendall(b"FLUSHALL\r\n")
        if (said := connection.recv(64)) != b"+OK\r\n":
            raise NotBroken(f"Redis says {said!r}")
    yield lambda: _is_healthy(str(ready["base_url"]), "/readyz")


@contextmanager
def _booked(fault: Fault, scene: Scene) -> Iterator[Answers]:
    """Mended once as many replicas are ready as the plan then has."""
    ready = _ready(scene)
    now = datetime.fromtimestamp(time.time(), UTC)
    plan = {
        "name": "A class that was booked too late",
        "scenario_id": _scenario(ready),
        "starts_at": now.isoformat(),
        "ends_at": (now + _CLASS).isoformat(),
        "expected_trainees": int(fault.target),
    }
    _asked("POST", f"{ready['base_url']}/v1/drills", headers=_as(ready, "instructor"), json=plan)
    yield lambda: _is_fleet_whole(ready)


@contextmanager
def _ended(fault: Fault, scene: Scene) -> Iterator[Answers]:
    ready = _ready(scene)
    before = _running(ready, fault.target)
    if fault.kind in OF_A_REPLICA:
        os.killpg(before, _SIGNALS[fault.kind])
    else:
        os.kill(before, _SIGNALS[fault.kind])

    def answers() -> bool:
        now = _ready(scene)
        if pids_in(now).get(fault.target) in (None, before):
            return False
        if fault.kind in OF_A_REPLICA:
            return _is_healthy(_url(now, fault.target))
        return _is_healthy(str(now["base_url"]), "/readyz")

    yield answers


def _is_fleet_whole(ready: Mapping[str, object]) -> bool:
    replicas = _told(f"{ready['base_url']}/v1/fleet", _as(ready, "operator")).get("replicas")
    return bool(replicas) and isinstance(replicas, list) and all(each["health"] == "ready" for each in replicas)


def _told(url: str, headers: Mapping[str, str]) -> Mapping[str, object]:
    """Nothing where it does not answer: it may be too busy just now, and is asked again."""
    try:
        answer = httpx.get(url, headers=headers, timeout=_PATIENCE_S, trust_env=False)
    except httpx.TransportError:
        return {}
    told = answer.json() if answer.is_success else {}
    return told if isinstance(told, dict) else {}


def _as(ready: Mapping[str, object], role: str) -> dict[str, str]:
    keys = ready.get("keys")
    key = keys.get(role) if isinstance(keys, dict) else None
    return {"Authorization": f"Bearer {key}"}


def _scenario(ready: Mapping[str, object]) -> str:
    scenarios = ready.get("scenarios")
    if not (isinstance(scenarios, list) and scenarios):
        raise NotBroken("there is no scenario that a class could have")
    return str(scenarios[0]["id"])


def _asked(method: str, url: str, *, headers: Mapping[str, str] | None = None, json: object = None) -> None:
    answer = httpx.request(method, url, headers=headers, json=json, timeout=_ORDERED_WITHIN_S, trust_env=False)
    if not answer.is_success:
        raise NotBroken(f"{answer.status_code} {answer.text[:200]}")


def _is_healthy(url: str, path: str = "/health") -> bool:
    try:
        return httpx.get(f"{url}{path}", timeout=_PATIENCE_S, trust_env=False).is_success
    except httpx.TransportError:
        return False


def _requests_at(url: str) -> int:
    """Nothing where it does not answer: somebody else has broken it."""
    try:
        page = httpx.get(f"{url}/metrics", timeout=_PATIENCE_S, trust_env=False)
    except httpx.TransportError:
        return 0
    load = engine_load(page.text)
    return (load.running or 0) + (load.waiting or 0)


def _ready(scene: Scene) -> Mapping[str, object]:
    if scene.ready_file is None:
        raise StackFailed("no stack of this machine is known")
    return read_ready(scene.ready_file)


def _replicas(ready: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    found = ready.get("replicas")
    return {str(each["id"]): each for each in found} if isinstance(found, list) else {}


def _url(ready: Mapping[str, object], replica: str) -> str:
    return str(_replicas(ready)[replica]["url"])


def _running(ready: Mapping[str, object], name: str) -> int:
    """Its number, if it lives; raises `NotBroken`. Each child of `up` leads a group of its own number."""
    pid = pids_in(ready).get(name)
    if pid is None or not _lives(pid):
        raise NotBroken(f"{name} does not run at this moment")
    return pid


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state not in "ZX" and os.getpgid(pid) == pid
    except OSError:
        return False
