"""Replicas as services of one Compose file, one to a GPU: a replica is a container, and its service the place for it.

A service is never scaled, for every container of it would be given the same GPU. `up` may fetch an image and `rm` waits
for running replies, so both are begun, watched for a moment, and go on by themselves; what becomes of them is seen at
the next round.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import yaml
from typing_extensions import override

from router.domain.fleet import ReplicaId
from router.fleet.adapters.compose_command import ComposeCommand, ComposeJob
from router.fleet.domain.compose_services import (
    Container,
    ServiceName,
    UnusableCompose,
    containers,
    pool_services,
)
from router.fleet.domain.demand import PoolName
from router.fleet.domain.engine_log import telling_line
from router.fleet.domain.hosted import HostedReplica, HostPhase, Mark
from router.fleet.errors import HostUnavailable
from router.fleet.ports import ReplicaHost

ASKED_WITHIN_S: Final = 20.0
UP_WITHIN_S: Final = 1800.0
"""It may have to fetch an image of some GB."""
LOG_LINES: Final = "200"
_PASSING: Final = (HostPhase.EXITED, HostPhase.STOPPING)


class ComposeHost(ReplicaHost):
    """`grace_s` is how long a removal may take: more than the services' own `stop_grace_period`."""

    def __init__(
        self,
        *,
        command: ComposeCommand,
        file: Path,
        label: str,
        pool: PoolName,
        grace_s: float,
        patience_s: float = 3.0,
    ) -> None:
        self._command = command
        self._file = file
        self._label = label
        self._pool = pool
        self._grace_s = grace_s
        self._patience_s = patience_s
        self._starts: dict[ServiceName, ComposeJob] = {}
        self._removals: dict[ServiceName, ComposeJob] = {}
        self._last_words: dict[ReplicaId, str] = {}

    @property
    @override
    def names_replicas(self) -> bool:
        return True

    @override
    async def list(self) -> Sequence[HostedReplica]:
        services = self._services()
        found = await self._containers(services)
        self._last_words = {one.replica: self._last_words.get(one.replica, "") for one in found}
        return [await self._hosted(one, url=services[one.service]) for one in found]

    @override
    async def start(self, replica: ReplicaId, *, among: int) -> None:
        self._tell_failures()
        services = self._services()
        found = await self._containers(services)
        # What ended or leaves holds its service for a while, and is none of those that the pool has.
        passing = {one.service for one in found if one.phase in _PASSING} | set(self._removals)
        taken = {one.service for one in found} | set(self._starts) | passing
        if len(taken - passing) >= among:
            return
        free = next((service for service in services if service not in taken), None)
        if free is not None:
            words = ("up", "-d", "--no-deps", "--force-recreate", free)
            await self._watch(self._starts, free, self._command.begin(*words, within_s=UP_WITHIN_S))
        elif not passing:
            raise HostUnavailable(f"{self._file} has {len(services)} services for {self._pool}, and all are taken")

    @override
    async def mark(self, replica: ReplicaId, mark: Mark) -> None:
        """Nothing: Compose takes no replica away by itself."""

    @override
    async def stop(self, replica: ReplicaId, *, among: int) -> None:
        self._tell_failures()
        found = await self._containers(self._services())
        service = next((one.service for one in found if one.replica == replica), None)
        if service is None or service in self._removals or service in self._starts:
            return
        if sum(one.service == service for one in found) > 1:
            raise HostUnavailable(f"service {service} was scaled: {replica} cannot be removed without its others")
        removal = self._command.begin("rm", "-s", "-f", service, within_s=self._grace_s)
        await self._watch(self._removals, service, removal)

    def _services(self) -> Mapping[ServiceName, str]:
        """Read anew each time, since it may be written anew."""
        try:
            told = yaml.safe_load(self._file.read_text(encoding="utf-8"))
            return pool_services(told, label=self._label, pool=self._pool)
        except OSError as error:
            raise HostUnavailable(f"{self._file} cannot be read: {error.strerror}") from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise HostUnavailable(f"{self._file} is no YAML") from error
        except UnusableCompose as error:
            raise HostUnavailable(f"{self._file}: {error}") from error

    async def _containers(self, services: Mapping[ServiceName, str]) -> Sequence[Container]:
        answer = await self._command.answer("ps", "-a", "--format", "json", within_s=ASKED_WITHIN_S)
        try:
            return [one for one in containers(answer) if one.service in services]
        except UnusableCompose as error:
            raise HostUnavailable(f"docker compose ps: {error}") from error

    async def _hosted(self, container: Container, *, url: str) -> HostedReplica:
        removal = self._removals.get(container.service)
        phase = HostPhase.STOPPING if removal is not None and removal.goes_on() else container.phase
        detail = container.detail
        if phase is HostPhase.EXITED and (said := await self._said_last(container)):
            detail = f"{detail}: {said}"
        return HostedReplica(container.replica, phase, container.since, url, detail)

    async def _said_last(self, container: Container) -> str:
        """Asked until it is known, for it does not change any more."""
        if not self._last_words.get(container.replica):
            words = ("logs", "--no-log-prefix", "--no-color", "--tail", LOG_LINES, container.service)
            try:
                said = telling_line(await self._command.answer(*words, within_s=ASKED_WITHIN_S))
            except HostUnavailable:
                said = ""
            self._last_words[container.replica] = said
        return self._last_words[container.replica]

    async def _watch(self, jobs: dict[ServiceName, ComposeJob], service: ServiceName, job: ComposeJob) -> None:
        jobs[service] = job
        if await job.ends(within_s=self._patience_s):
            self._tell_failures()

    def _tell_failures(self) -> None:
        """Forget what has ended by itself; how it failed is told once, at the next order."""
        for jobs in (self._starts, self._removals):
            for service in [service for service, job in jobs.items() if not job.goes_on()]:
                if failure := jobs.pop(service).failure:
                    raise HostUnavailable(f"{service}: {failure}")
