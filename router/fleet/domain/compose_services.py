"""What Docker Compose tells of a pool's services: those its file has, and the containers there are of them."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.hosted import HostPhase

POOL_LABEL: Final = "drillyard.pool"
URL_LABEL: Final = "drillyard.url"
SHORT_ID: Final = 12
KILLED: Final = 137

ServiceName = str


class UnusableCompose(ValueError):
    """A file or an answer that says something else than it should."""


class ContainerState(StrEnum):
    CREATED = "created"
    RUNNING = "running"
    PAUSED = "paused"
    RESTARTING = "restarting"
    REMOVING = "removing"
    EXITED = "exited"
    DEAD = "dead"


PHASE_OF: Final[Mapping[ContainerState, HostPhase]] = {
    ContainerState.CREATED: HostPhase.PENDING,
    ContainerState.RUNNING: HostPhase.RUNNING,
    ContainerState.PAUSED: HostPhase.RUNNING,
    # It ended by itself, and will again: one that is restarted for ever is never warm.
    ContainerState.RESTARTING: HostPhase.EXITED,
    ContainerState.REMOVING: HostPhase.STOPPING,
    ContainerState.EXITED: HostPhase.EXITED,
    ContainerState.DEAD: HostPhase.EXITED,
}


@dataclass(frozen=True, slots=True)
class Container:
    service: ServiceName
    id: str
    state: ContainerState
    since: float
    exit_code: int

    @property
    def replica(self) -> ReplicaId:
        """The service alone would name the next container too."""
        return ReplicaId(f"{self.service}-{self.id[:SHORT_ID]}")

    @property
    def phase(self) -> HostPhase:
        return HostPhase.EXITED if self._could_not_start else PHASE_OF[self.state]

    @property
    def _could_not_start(self) -> bool:
        """A container that the engine made and could not start stays as it was made, with a code: no such device."""
        return self.state is ContainerState.CREATED and self.exit_code != 0

    @property
    def detail(self) -> str:
        if self.state is ContainerState.PAUSED:
            return "its container is paused"
        if self.phase is not HostPhase.EXITED:
            return ""
        if self._could_not_start:
            return f"its container could not be started (exit code {self.exit_code})"
        killed = ", as one that is killed, perhaps for its memory," if self.exit_code == KILLED else ""
        return f"its container ended with exit code {self.exit_code}{killed}".rstrip(",")


def pool_services(file: object, *, label: str, pool: PoolName) -> Mapping[ServiceName, str]:
    """The pool's services in the file's order, each with the URL that its label tells."""
    services = file.get("services") if isinstance(file, Mapping) else None
    if not isinstance(services, Mapping):
        raise UnusableCompose("it has no services")
    return {
        str(name): _url(str(name), labels)
        for name, service in services.items()
        if (labels := _labels(service)).get(label) == pool
    }


def _labels(service: object) -> Mapping[str, str]:
    """Compose takes a table of them, or a list of `name=value`; a `$` of a value is written twice."""
    told = service.get("labels") if isinstance(service, Mapping) else None
    if isinstance(told, Mapping):
        pairs = [(str(name), str(value)) for name, value in told.items()]
    else:
        words = (str(one).partition("=") for one in (told if isinstance(told, list) else ()))
        pairs = [(name, value) for name, _, value in words]
    return {name: value.replace("$$", "$") for name, value in pairs}


def _url(service: ServiceName, labels: Mapping[str, str]) -> str:
    url = labels.get(URL_LABEL, "")
    if not url.startswith(("http://", "https://")):
        raise UnusableCompose(f"service {service} does not say in its label {URL_LABEL} where it answers")
    return url


def containers(answer: str) -> Sequence[Container]:
    """As `docker compose ps --format json` tells them: one array until 2.20, one object a line since."""
    return [_container(one) for one in _objects(answer)]


def _objects(answer: str) -> Iterator[Mapping[str, object]]:
    try:
        told = json.loads(answer) if answer.lstrip().startswith("[") else [json.loads(x) for x in _lines(answer)]
    except ValueError as error:
        raise UnusableCompose("its answer is no JSON") from error
    for one in told:
        if not isinstance(one, Mapping):
            raise UnusableCompose("its answer holds what is no container")
        yield one


def _lines(answer: str) -> Sequence[str]:
    # Not splitlines(): it also cuts at separators that may stand inside a string.
    return [line for line in answer.split("\n") if line.strip()]


def _container(told: Mapping[str, object]) -> Container:
    try:
        return Container(
            service=str(told["Service"]),
            id=str(told["ID"]),
            state=ContainerState(str(told["State"]).lower()),
            since=_since(told),
            exit_code=int(str(told.get("ExitCode", 0))),
        )
    except (KeyError, ValueError) as error:
        raise UnusableCompose(f"it tells of a container in words that are not known ({error})") from error


def _since(told: Mapping[str, object]) -> float:
    """Seconds until 2.20; since then such as "2026-11-30 22:05:18 +0100 CET"."""
    if "CreatedAt" not in told:
        return float(str(told["Created"]))
    moment = " ".join(str(told["CreatedAt"]).split()[:3])
    return datetime.strptime(moment, "%Y-%m-%d %H:%M:%S %z").timestamp()
