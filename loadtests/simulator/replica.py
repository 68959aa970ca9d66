"""One simulated replica as its routes see it: model, engine, faults, memory of requests, and the phase of its life."""

import asyncio
from collections.abc import Sequence
from uuid import uuid4

from loadtests.simulator.ask import Model
from loadtests.simulator.domain.engine import Engine
from loadtests.simulator.domain.faults import Faults
from loadtests.simulator.domain.generation import RequestId
from loadtests.simulator.domain.lifecycle import Event, Phase, after
from loadtests.simulator.domain.profile import Profile
from loadtests.simulator.domain.replies import Rule
from loadtests.simulator.errors import LEAVING, engine_failed
from loadtests.simulator.options import Options
from loadtests.simulator.recorder import Recorder
from loadtests.simulator.runner import Runner
from loadtests.simulator.vocabulary import vocabulary_of

_FIRST_PHASE = Phase.IMPORTING


class Replica:
    def __init__(self, *, options: Options, engine: Engine, rules: Sequence[Rule] = (), faults: Faults) -> None:
        self.options = options
        self.model = Model(
            name=options.served_model_name,
            vocabulary=vocabulary_of(options.model),
            window_tokens=engine.profile.limits.window_tokens,
            seed=options.seed,
        )
        self.fingerprint = f"vllm-0.32.0-{uuid4().hex[:8]}"
        self.runner = Runner(engine, speed_up=options.speed_up, on_death=self._died)
        self.recorder = Recorder()
        self.rules = tuple(rules)
        self.faults = faults
        self.phase = _FIRST_PHASE
        self.in_flight = 0
        self.changed = asyncio.Event()
        """Set when faults were added or cleared."""
        self.died = asyncio.Event()
        self.healed = asyncio.Event()
        """Clear while a partition lets nothing through."""
        self.healed.set()
        self.health_status = 200
        self.is_held = False
        """Whether a pause holds the engine in the middle of what it does."""
        self.speaking: dict[str, set[RequestId]] = {}
        """The engine's requests by the id of their answer."""
        self._engine = engine
        self._open = asyncio.Event()
        self._open.set()
        self._ready_s = 0.0

    @property
    def profile(self) -> Profile:
        return self._engine.profile

    @property
    def caches_prefixes(self) -> bool:
        return self._engine.caches_prefixes

    @property
    def now_s(self) -> float:
        """Simulated seconds since the replica was ready."""
        return self.runner.now_s - self._ready_s if self.phase.is_up else 0.0

    def real_s(self, simulated_s: float) -> float:
        return simulated_s / self.options.speed_up

    def advance(self, event: Event) -> None:
        was_up = self.phase.is_up
        self.phase = after(self.phase, event)
        if self.phase.is_up and not was_up:
            self._ready_s = self.runner.now_s
        if self.phase in (Phase.PAUSED, Phase.ASLEEP):
            self._open.clear()
        else:
            # Who waits is let in, be it to hear that the replica is leaving.
            self._open.set()

    async def admit(self) -> None:
        """Let a request in; it waits while the replica is paused or asleep, which nothing shows from outside."""
        await self._open.wait()
        if self.phase is Phase.DRAINING:
            raise engine_failed(LEAVING)
        if self.phase is Phase.DEAD:
            raise engine_failed()

    def abort(self, answer_id: str) -> None:
        """End the requests with this answer id; another part of the id finds nothing."""
        for request in self.speaking.get(answer_id, ()):
            self.runner.abort(request)

    def _died(self, _: str) -> None:
        if self.phase is not Phase.DEAD:
            self.advance(Event.DIE)
        self.died.set()
