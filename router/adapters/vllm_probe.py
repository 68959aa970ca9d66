"""Looks after the replicas: are they there, and are they the ones meant."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus

import httpx

from router.domain.engine_stream import error_message
from router.domain.exchange import Message
from router.domain.fitness import Expectation, count_misfit, model_misfit
from router.domain.fleet import Fleet, Replica, ReplicaId
from router.domain.health import Observation, when_late
from router.settings import RouterSettings

_PROBES_AT_ONCE = 32

Report = Callable[[ReplicaId, Observation, str], None]


class _NotWell(Exception):
    """The server answers, with an error of its own."""


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    body: object


class VllmProbe:
    """Asks every replica on an interval and reports what it saw."""

    def __init__(
        self,
        *,
        client: httpx.AsyncClient,
        fleet: Callable[[], Fleet],
        report: Report,
        expectation: Expectation,
        settings: RouterSettings,
    ) -> None:
        self._client = client
        self._fleet = fleet
        self._report = report
        self._expectation = expectation
        self._settings = settings
        self._late: Counter[ReplicaId] = Counter()
        self._slots = asyncio.Semaphore(_PROBES_AT_ONCE)

    async def first_round(self) -> None:
        """Return once every replica has been looked at."""
        async with asyncio.TaskGroup() as group:
            for replica in self._fleet().replicas:
                group.create_task(self._look_at(replica.id))

    async def run(self) -> None:
        """Look for ever, at each replica in its own rhythm, so that a slow one delays no other."""
        async with asyncio.TaskGroup() as group:
            for replica in self._fleet().replicas:
                group.create_task(self._keep_looking_at(replica.id))

    async def _keep_looking_at(self, replica: ReplicaId) -> None:
        while True:
            await self._look_at(replica)
            await asyncio.sleep(self._settings.probe_interval_s)

    async def _look_at(self, replica_id: ReplicaId) -> None:
        async with self._slots:
            replica = self._fleet().get(replica_id)
            if replica is None:
                return
            observation, detail = await self._observe(replica)
        self._report(replica_id, observation, detail)

    async def _observe(self, replica: Replica) -> tuple[Observation, str]:
        try:
            await self._ask(replica, "GET", "/health")
            misfit = None if replica.is_ready else await self._misfit(replica)
        except (TimeoutError, httpx.TimeoutException):
            return self._was_late(replica)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            self._late.pop(replica.id, None)
            return Observation.PROBE_FAILED, f"cannot be reached ({type(error).__name__}: {error})"
        except _NotWell as error:
            self._late.pop(replica.id, None)
            return Observation.PROBE_FAILED, str(error)
        self._late.pop(replica.id, None)
        if misfit is not None:
            return Observation.REFUSED, misfit
        return (Observation.PROBE_PASSED if replica.is_ready else Observation.ACCEPTED), ""

    def _was_late(self, replica: Replica) -> tuple[Observation, str]:
        self._late[replica.id] += 1
        observation = when_late(replica.health, in_a_row=self._late[replica.id])
        return observation, f"no answer within {self._settings.probe_timeout_s:g} s"

    async def _misfit(self, replica: Replica) -> str | None:
        models = await self._ask(replica, "GET", "/v1/models")
        if models.status != HTTPStatus.OK:
            return f"answers HTTP {models.status} to /v1/models: {error_message(models.body)}"
        if misfit := model_misfit(self._expectation, _windows(models.body)):
            return misfit
        for sample in self._expectation.samples:
            answer = await self._ask(
                replica, "POST", "/tokenize", _conversation(self._expectation.model, sample.messages)
            )
            counted = answer.body.get("count") if isinstance(answer.body, dict) else None
            if not isinstance(counted, int):
                return f"answers HTTP {answer.status} to /tokenize: {error_message(answer.body)}"
            if misfit := count_misfit(sample, counted):
                return misfit
        return None

    async def _ask(
        self, replica: Replica, method: str, path: str, content: Mapping[str, object] | None = None
    ) -> _Answer:
        async with asyncio.timeout(self._settings.probe_timeout_s):
            response = await self._client.request(
                method,
                replica.url.rstrip("/") + path,
                json=content,
                # A kept connection may be lost just as it is used, which would look like a lost replica.
                headers={"Connection": "close"},
                timeout=self._settings.probe_timeout_s,
            )
        if response.is_server_error:
            raise _NotWell(f"answers HTTP {response.status_code} to {path}")
        return _Answer(response.status_code, _json(response))


def _json(response: httpx.Response) -> object:
    try:
        body: object = response.json()
    except ValueError:
        return None
    return body


def _windows(body: object) -> dict[str, int]:
    models = body.get("data") if isinstance(body, dict) else None
    windows: dict[str, int] = {}
    for model in models if isinstance(models, list) else []:
        if isinstance(model, dict) and isinstance(model.get("id"), str):
            window = model.get("max_model_len")
            windows[model["id"]] = window if isinstance(window, int) else 0
    return windows


def _conversation(model: str, messages: Sequence[Message]) -> dict[str, object]:
    return {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
    }
