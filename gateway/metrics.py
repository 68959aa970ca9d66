"""What this process counts for Prometheus; labels are bounded, and no session or account is ever one."""

from collections.abc import Callable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from gateway.router_metrics import CountingRouter, exposition, figures, router_families
from sessions.domain.moderation import Judgement
from sessions.domain.turn import Turn
from sessions.use_cases.note_book import CompactionOutcome

_SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0, 15.0, 30.0)

Figures = Callable[[], Mapping[str, float]]
"""Values by name, read when somebody looks."""


def no_figures() -> Mapping[str, float]:
    return {}


class Metrics:
    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=True)
        self._gauges: Figures = no_figures
        self._counters: Figures = no_figures
        self._router: CountingRouter | None = None
        self._requests = Counter(
            "drillyard_http_requests",
            "Requests by route and status",
            ["method", "route", "status"],
            registry=self.registry,
        )
        self._turns = Counter("drillyard_turns", "Turns by how they ended", ["state"], registry=self.registry)
        self._by_tier = Counter(
            "drillyard_tier_turns", "Turns by kind of work and model", ["tier", "model"], registry=self.registry
        )
        self._fell_back = Counter(
            "drillyard_tier_fallbacks",
            "Turns that a model served in place of the wanted one, whose pool was away",
            ["tier", "model"],
            registry=self.registry,
        )
        self._continued = Counter(
            "drillyard_turns_continued", "Turns whose reply another replica took over", registry=self.registry
        )
        self._compactions = Counter(
            "drillyard_compactions",
            "Attempts to make a note, by what became of them",
            ["outcome"],
            registry=self.registry,
        )
        self._refusals = Counter(
            "drillyard_limit_refusals", "Work that was not let in, by the limit", ["limit"], registry=self.registry
        )
        self._checked = Counter(
            "drillyard_moderation_texts",
            "Texts that were moderated, by what they are and what became of them",
            ["kind", "verdict"],
            registry=self.registry,
        )
        self._found = Counter(
            "drillyard_moderation_findings",
            "What moderation found, by the stage that found it and what was done about it",
            ["source", "action", "direction"],
            registry=self.registry,
        )
        self._tokens = Counter(
            "drillyard_prompt_tokens", "Prompt tokens of completed turns", ["source"], registry=self.registry
        )
        self._first = Histogram(
            "drillyard_turn_ttft_seconds", "From acceptance to the first text", buckets=_SECONDS, registry=self.registry
        )
        self._whole = Histogram(
            "drillyard_turn_seconds", "From acceptance to the end", buckets=_SECONDS, registry=self.registry
        )

    def saw_request(self, *, method: str, route: str, status: int) -> None:
        self._requests.labels(method, route, str(status)).inc()

    def saw_turn(self, turn: Turn) -> None:
        self._turns.labels(turn.state).inc()
        self._by_tier.labels(turn.tier, turn.model).inc()
        if turn.fell_back:
            self._fell_back.labels(turn.tier, turn.model).inc()
        self._continued.inc(turn.continued)
        self._tokens.labels("cached").inc(turn.usage.cached_tokens)
        self._tokens.labels("computed").inc(max(0, turn.usage.prompt_tokens - turn.usage.cached_tokens))
        self._whole.observe(turn.timings.e2e_ms / 1000)
        if turn.timings.ttft_ms is not None:
            self._first.observe(turn.timings.ttft_ms / 1000)

    def saw_refusal(self, limit: str) -> None:
        self._refusals.labels(limit).inc()

    def saw_moderated(self, kind: str, found: Judgement) -> None:
        self._checked.labels(kind, found.verdict).inc()
        for mark in found.marks:
            self._found.labels(mark.source, mark.action, mark.direction).inc()

    def saw_compaction(self, outcome: CompactionOutcome) -> None:
        self._compactions.labels(outcome).inc()

    def watch(self, *, gauges: Figures, counters: Figures) -> None:
        """Read these at every look; what only grows is a counter."""
        self._gauges, self._counters = gauges, counters

    def watch_router(self, router: CountingRouter) -> None:
        """Of a process that routes by itself; a router elsewhere tells its own numbers."""
        self._router = router

    async def text(self) -> bytes:
        """The exposition, version 0.0.4."""
        families = list(figures(self._gauges(), self._counters()))
        if self._router is not None:
            families += await router_families(self._router)
        return generate_latest(self.registry) + exposition(families)
