"""The recorded conversations again, over HTTP: what a client is told by usage and by each request's own metrics.

The metrics are the engine's simulated milliseconds, so the machine the test runs on does not matter.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from tests.support.recorded_turns import RECORDED, Turn
from tests.support.simulator_process import SimulatorProcess, simulator

REPLY = 32
FLAGS = ("--block-size", "32", "--enable-prompt-tokens-details", "--enable-per-request-metrics")
"""As the recorded servers were started; the metrics are what tells simulated time."""


class Caller:
    """Its messages are words of one token each in the built-in vocabulary, so their number decides the length."""

    def __init__(self, name: str) -> None:
        self._messages = [{"role": "system", "content": f"{name} {words(470)}"}]

    def ask(self, replica: SimulatorProcess, *, length: int) -> Turn:
        self._messages.append({"role": "user", "content": words(20)})
        short = length - self._count(replica)
        self._messages[-1]["content"] = words(20 + short)
        body = {
            "messages": self._messages,
            "max_tokens": REPLY,
            "min_tokens": REPLY,
            "ignore_eos": True,
            "temperature": 0,
        }
        answer = replica.client.post("/v1/chat/completions", json=body).raise_for_status().json()
        self._messages.append({"role": "assistant", "content": answer["choices"][0]["message"]["content"]})
        usage = answer["usage"]
        return Turn(
            prompt=usage["prompt_tokens"],
            cached=usage["prompt_tokens_details"]["cached_tokens"],
            ttft_ms=answer["metrics"]["time_to_first_token_ms"],
        )

    def _count(self, replica: SimulatorProcess) -> int:
        counted: int = replica.client.post("/tokenize", json={"messages": self._messages}).json()["count"]
        return counted


def words(count: int) -> str:
    return " ".join(["offer"] * count)


@contextmanager
def replicas(count: int, *flags: str) -> Iterator[list[SimulatorProcess]]:
    with ExitStack() as stack:
        yield [stack.enter_context(simulator(*FLAGS, *flags)) for _ in range(count)]


@pytest.mark.parametrize(
    ("name", "count", "flags"),
    [("sticky", 1, ()), ("alternating", 2, ()), ("no_cache", 1, ("--no-enable-prefix-caching",))],
)
def test_a_conversation_of_ten_turns_has_the_recorded_curve(name: str, count: int, flags: tuple[str, ...]) -> None:
    caller = Caller(name)
    with replicas(count, *flags) as started:
        turns = [
            caller.ask(started[number % count], length=recorded.prompt)
            for number, recorded in enumerate(RECORDED[name])
        ]
        told = [f'enable_prefix_caching="{name != "no_cache"}"' in each.client.get("/metrics").text for each in started]
    assert all(told), "an operator can see whether it caches prefixes"
    for turn, recorded in zip(turns, RECORDED[name], strict=True):
        assert turn.prompt == recorded.prompt
        assert turn.ttft_ms == pytest.approx(recorded.ttft_ms, rel=0.15)
