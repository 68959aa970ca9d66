"""The order in which the parts of a local stack start and stop."""

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gateway.local.cache import cache_folder
from gateway.local.calendar_pool import GRACE_S
from gateway.local.children import Children, Service
from gateway.local.errors import ServiceDied
from gateway.local.fleet_process import NAME as FLEET
from gateway.local.fleet_process import fleet_service
from gateway.local.free_port import free_ports, is_free
from gateway.local.gateway_process import (
    ReplicaAddress,
    Wanted,
    base_url,
    chosen_port,
    gateway_environment,
    gateway_service,
    migration,
    port_taken,
    replicas_of,
)
from gateway.local.places import Places
from gateway.local.postgres_cluster import prepared
from gateway.local.postgres_server import postgres_service, postgres_url
from gateway.local.preparation import Options, Prepared, prepare
from gateway.local.process import Child
from gateway.local.progress import Progress
from gateway.local.ready_file import Ready, ReadyReplica
from gateway.local.redis_server import redis_service, redis_url
from gateway.local.seed import Seed, SeedDatabase
from gateway.local.vllm_environment import Installer
from gateway.local.vllm_replica import HOST
from gateway.local.watch import Watch

LISTS = Path(__file__).parents[2] / "deploy" / "vllm"
_KEEPERS_OF_DATA = frozenset({"redis", "postgres"})


@dataclass(frozen=True, slots=True)
class Stores:
    redis_url: str
    database_url: str


class Stack:
    """`start` brings everything up, `watch` keeps it up, `stop` takes it down from any state."""

    def __init__(
        self, *, options: Options, places: Places, children: Children, progress: Progress, temporary: Path
    ) -> None:
        self._options = options
        self._places = places
        self._children = children
        self._progress = progress
        self._temporary = temporary
        self._parts: list[tuple[Service, Child]] = []

    def start(self, seed: SeedDatabase, *, caller: Mapping[str, str]) -> Callable[[Mapping[str, int]], Ready]:
        """Start all parts; returns what tells the state, given the processes' present numbers."""
        port = chosen_port(self._options.host, self._options.port, say=self._progress.note)
        ready = prepare(self._options, self._installer(caller), caller, temporary=self._temporary)
        replicas = self._launch(ready)  # they load for half a minute; the rest is done meanwhile
        stores = self._start_stores()
        addresses = () if ready.pool else replicas or replicas_of(caller)
        wanted = Wanted(
            redis_url=stores.redis_url,
            database_url=stores.database_url,
            host=self._options.host,
            port=port,
            instance=secrets.token_hex(8),
            window_tokens=self._options.window_tokens,
            model=ready.model,
            replicas=addresses if replicas else (),
            further=self._pool_variables(ready),
        )
        sown = self._prepare_database(gateway_environment(wanted, caller), seed)
        self._await_replicas()
        url = self._start_gateway(wanted, caller, has_replicas=bool(addresses))
        if ready.pool is not None:
            self._start_fleet(gateway_environment(wanted, caller))
        kind = self._options.replica_kind.value if replicas else "external"
        return lambda pids: Ready(
            base_url=url,
            seed=sown,
            replicas=tuple(ReadyReplica(one.id, one.url, pids.get(one.id, 0), kind) for one in addresses),
            redis_url=stores.redis_url,
            database_url=stores.database_url,
            pids=pids,
            log_dir=self._places.logs,
        )

    @property
    def pids(self) -> Mapping[str, int]:
        return {service.name: child.pid for service, child in self._parts}

    def watch(self, on_change: Callable[[Mapping[str, int]], None]) -> None:
        watch = Watch(children=self._children, say=self._progress.note)
        for service, child in self._parts:
            watch.add(service, child)
        watch.run(on_change)

    def stop(self) -> None:
        """First who takes requests, then who serves them, last who keeps the data."""
        self._children.stop([one for one in self._children.running if one.command.name == "gateway"])
        self._children.stop([one for one in self._children.running if one.command.name not in _KEEPERS_OF_DATA])
        try:
            self.end_calendar_replicas()  # after whoever would start them again
        finally:
            self._children.stop_all()

    def end_calendar_replicas(self) -> Sequence[str]:
        """Of this run or of an earlier one, which nobody looks after any more."""
        from gateway.wiring.local_replicas import end_replicas  # noqa: PLC0415  slow to load, and seldom needed

        return end_replicas(self._places.fleet, within_s=GRACE_S) if self._places.fleet.exists() else ()

    def _installer(self, caller: Mapping[str, str]) -> Installer:
        cache = cache_folder(self._places.data, caller)
        return Installer(
            lists=LISTS, cache=cache, logs=self._places.logs, children=self._children, progress=self._progress
        )

    def _launch(self, ready: Prepared) -> tuple[ReplicaAddress, ...]:
        addresses = []
        ports = free_ports(len(ready.starters)) if ready.starters else ()
        for number, (port, start) in enumerate(zip(ports, ready.starters, strict=True), start=1):
            service = start(f"replica-{number}", port)
            self._parts.append((service, self._children.start(service.command)))
            addresses.append(ReplicaAddress(id=service.name, url=f"http://{HOST}:{port}"))
        return tuple(addresses)

    def _start_stores(self) -> Stores:
        places, children = self._places, self._children
        with self._progress.step("starting Redis and Postgres"):
            log = places.logs / "redis.log"
            redis, child, redis_port = children.serve(
                lambda port: redis_service(places.redis, port=port, append_only=True, log=log)
            )
            self._parts.append((redis, child))
            log_pg = places.logs / "postgres.log"
            cluster = prepared(places.postgres, log=log_pg, fsync=True, children=children)
            postgres, child, port_pg = children.serve(lambda port: postgres_service(cluster, port=port, log=log_pg))
            self._parts.append((postgres, child))
        return Stores(redis_url(redis_port), postgres_url(cluster, port_pg))

    def _prepare_database(self, environment: Mapping[str, str], seed: SeedDatabase) -> Seed:
        log = self._places.logs / "migrate.log"
        with self._progress.step("preparing the database") as tick:
            self._children.run(migration(self._options.gateway_module, environment, log=log), tick=tick)
            with self._children.interrupting():
                return seed(environment)

    def _await_replicas(self) -> None:
        replicas = [(service, child) for service, child in self._parts if service.name not in _KEEPERS_OF_DATA]
        if replicas:
            what = f"loading the model into {len(replicas)} replica{'s' if len(replicas) > 1 else ''}"
            first = replicas[0][1]
            with self._progress.step(what, log=first.command.log, since=first.log_began) as tick:
                self._children.await_ready(replicas, tick=tick)

    def _pool_variables(self, ready: Prepared) -> Mapping[str, str]:
        if ready.pool is None or ready.model is None:
            return {}
        return ready.pool.variables(ready.model, folder=self._places.fleet)

    def _start_fleet(self, environment: Mapping[str, str]) -> None:
        module, log = self._options.gateway_module, self._places.logs / f"{FLEET}.log"
        with self._progress.step("starting what looks after the replicas") as tick:
            service, child, _ = self._children.serve(
                lambda port: fleet_service(module, environment, port=port, log=log), tick=tick
            )
        self._parts.append((service, child))

    def _start_gateway(self, wanted: Wanted, caller: Mapping[str, str], *, has_replicas: bool) -> str:
        """Where it answers: the port it was promised may have gone to somebody else meanwhile."""
        module, log, asked = self._options.gateway_module, self._places.logs / "gateway.log", self._options.port or 0

        def service_on(port: int) -> Service:
            return gateway_service(module, replace(wanted, port=port), caller, log=log, has_replicas=has_replicas)

        with self._progress.step("starting the gateway") as tick:
            try:
                service, child, port = self._children.serve(
                    service_on, port=asked, first=wanted.port, host=wanted.host, tick=tick
                )
            except ServiceDied as error:
                if asked and not is_free(asked, wanted.host):
                    raise port_taken(wanted.host, asked) from error
                raise
        self._parts.append((service, child))
        if port != wanted.port:
            self._progress.note(f"port {wanted.port} was taken meanwhile; using {port}")
        return base_url(wanted.host, port, caller)
