"""What the replicas have computed so far, and when they are at rest: out of their own metrics."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadtests.conduct.http_line import HttpLine, Unanswered
from loadtests.domain.engine_metrics import EngineLoad, engine_load
from loadtests.target import Replica

_ASK_EVERY_S = 0.5


class NotAtRest(Exception):
    """A replica does not come back, or does not come to an end of its work."""


@dataclass(frozen=True, slots=True)
class Work:
    """Tokens of prompts since the replicas started, by replica: all of them, and those out of the cache."""

    prompts: Mapping[str, int]
    cached: Mapping[str, int]

    def since(self, before: "Work") -> "Work":
        return Work(_less(self.prompts, before.prompts), _less(self.cached, before.cached))

    @property
    def computed(self) -> int:
        return sum(self.prompts.values()) - sum(self.cached.values())


def at_rest(replicas: Sequence[Replica], *, within_s: float) -> Work:
    """Waits until each answers and nothing runs there; raises `NotAtRest`."""
    until = time.monotonic() + within_s
    while True:
        loads = {each.id: _load(each) for each in replicas}
        resting = {name: load for name, load in loads.items() if load and not (load.running or load.waiting)}
        if len(resting) == len(replicas):
            prompts = {name: load.prompt_tokens or 0 for name, load in resting.items()}
            return Work(prompts, {name: load.prefix_hit or 0 for name, load in resting.items()})
        if time.monotonic() > until:
            raise NotAtRest(f"not at rest after {within_s:.0f} s: {', '.join(sorted(set(loads) - set(resting)))}")
        time.sleep(_ASK_EVERY_S)


def model_of(replica: Replica) -> str:
    """The first it serves; raises `NotAtRest`."""
    try:
        with HttpLine(replica.url) as line:
            models = line.get_object("/v1/models")["data"]
    except (KeyError, Unanswered) as error:
        raise NotAtRest(f"{replica.id} names no model: {error}") from None
    assert isinstance(models, list)  # noqa: S101
    return str(models[0]["id"])


def _load(replica: Replica) -> EngineLoad | None:
    """None while it does not answer."""
    try:
        with HttpLine(replica.url) as line:
            line.get("/health")
            return engine_load(line.get("/metrics").decode(errors="replace"))
    except Unanswered:
        return None


def _less(after: Mapping[str, int], before: Mapping[str, int]) -> Mapping[str, int]:
    return {name: count - before.get(name, 0) for name, count in after.items()}
