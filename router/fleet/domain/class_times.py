"""What a class on one replica may expect: turns in flight, time to the first token, time per token, and the bell.

A turn costs its prefill P, which stops all others, and m tokens that it shares the steps with. With j turns in flight,
of which at most S run, the replica finishes r(j) = s / (m x token(s) + s x P) turns a second, s = min(j, S). The queue
of `closed_queue` says how many a message finds; each of those that run is still in its prefill with probability P / (m
x token(s) + P), and is then waited for.
"""

from dataclasses import dataclass
from typing import Final

from router.fleet.domain.closed_queue import found_in_flight, in_flight, quantile
from router.fleet.domain.service_curve import REQUEST_OVERHEAD_S, ServiceCurve

HIGH: Final = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Turns:
    """What trainees do: lengths in tokens of an average turn, and the time between a reply and the next message."""

    think_s: float
    new_tokens: int
    reply_tokens: int
    context_tokens: int
    first_tokens: int
    shared_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassTimes:
    in_flight: float
    busy_share: float
    turns_per_s: float
    ttft_s: float
    ttft_p95_s: float
    token_s: float
    bell_last_s: float
    """To the first token of the last trainee, when all send their first message at the same moment and only the shared
    part of the prompt is cached."""


def class_times(curve: ServiceCurve, turns: Turns, *, trainees: int) -> ClassTimes:
    replica = _Replica(curve, turns)
    now = in_flight(trainees, think_s=turns.think_s, rate=replica.rate)
    found = found_in_flight(trainees, think_s=turns.think_s, rate=replica.rate)
    return ClassTimes(
        in_flight=sum(count * share for count, share in enumerate(now)),
        busy_share=1.0 - now[0],
        turns_per_s=sum(share * replica.rate(count) for count, share in enumerate(now) if count),
        ttft_s=sum(share * replica.ttft_s(others) for others, share in enumerate(found)),
        ttft_p95_s=replica.ttft_s(quantile(found, HIGH)),
        token_s=sum(share * replica.token_s(others) for others, share in enumerate(found)),
        bell_last_s=replica.bell_s(trainees),
    )


@dataclass(frozen=True, slots=True)
class _Replica:
    curve: ServiceCurve
    turns: Turns

    @property
    def prefill_s(self) -> float:
        cached = max(0, self.turns.context_tokens - self.turns.new_tokens)
        return self.curve.prefill_s(self.turns.new_tokens, cached_tokens=cached)

    def running(self, turns: int) -> int:
        return min(turns, self.curve.setup.max_num_seqs)

    def writing_s(self, running: int) -> float:
        return self.turns.reply_tokens * self.curve.token_s(running)

    def rate(self, turns: int) -> float:
        running = self.running(turns)
        return running / (self.writing_s(running) + running * self.prefill_s)

    def ttft_s(self, others: int) -> float:
        running = self.running(others + 1)
        queued = others + 1 - running
        in_prefill = (running - 1) * self.prefill_s / (self.writing_s(running) + self.prefill_s)
        waiting = queued / self.rate(running) + (1 + in_prefill) * self.prefill_s
        return REQUEST_OVERHEAD_S + waiting + self.curve.step_s(running)

    def token_s(self, others: int) -> float:
        """Of a reply beside `others`: the steps, and the prefills of the others that stop it."""
        running = self.running(others + 1)
        return self.curve.token_s(running) + (running - 1) * self.prefill_s / self.turns.reply_tokens

    def bell_s(self, trainees: int) -> float:
        shared = min(self.turns.shared_tokens, self.turns.first_tokens)
        own = self.curve.prefill_s(max(1, self.turns.first_tokens - shared), cached_tokens=shared)
        waves = -(-trainees // self.running(trainees)) - 1
        written = waves * self.writing_s(self.running(trainees))
        return REQUEST_OVERHEAD_S + trainees * own + written + self.curve.step_s(self.running(trainees))
