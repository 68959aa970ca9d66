"""Trainees for Locust: each opens a session, takes its turns with time to think, closes the session and goes.

    locust -f loadtests/locustfile.py --headless --users 20 --turns 10

plays a class against the stack that runs from ./.drillyard. The run ends by itself when every trainee is through; the
exit code is 1 when any turn failed or none was taken. Rows of every turn go to --rows, one file per process.
"""

import itertools
import json
import random
import sys
import time
from argparse import Namespace
from dataclasses import asdict
from http import HTTPStatus
from pathlib import Path
from uuid import uuid4

import gevent
from geventhttpclient.response import HTTPConnectionClosed
from locust import FastHttpUser, events, task
from locust.argument_parser import LocustArgumentParser
from locust.contrib.fasthttp import ResponseContextManager
from locust.env import Environment
from locust.exception import StopUser
from locust.runners import WorkerRunner
from typing_extensions import override

from loadtests.domain.hearing import Hearing, TurnOutcome
from loadtests.domain.tally import Tally, tally
from loadtests.target import Asked, Target, TargetRefused, target
from loadtests.trainee_lines import line

_LOST = (HTTPConnectionClosed, ConnectionError, TimeoutError)
_REFUSED_FOR_A_MOMENT = frozenset({"http_409", "http_503"})
_RETRIES = 20
_MEAN_OF_UNIT_LOGNORMAL = 1.133  # exp(0.5 ** 2 / 2)


class Run:
    """What this process has heard so far, and which trainee comes next."""

    def __init__(self, options: Namespace, aim: Target) -> None:
        self.options = options
        self.aim = aim
        self.outcomes: list[TurnOutcome] = []
        self.began = time.perf_counter()
        self._numbers = itertools.count(0)
        self._left = int(options.num_users or 1)
        self._dice = random.Random(options.seed)  # noqa: S311  think times, not secrets
        self._rows: list[str] = []

    def next_trainee(self) -> int:
        return next(self._numbers)

    def think_s(self) -> float:
        """Log-normal around the mean that was asked for, as people's are."""
        return self._dice.lognormvariate(0, 0.5) * float(self.options.think) / _MEAN_OF_UNIT_LOGNORMAL

    def heard(self, outcome: TurnOutcome, *, session: str, intended_s: float, started_s: float) -> None:
        self.outcomes.append(outcome)
        times = {"session": session, "intended_s": intended_s - self.began, "started_s": started_s - self.began}
        self._rows.append(json.dumps({**times, **asdict(outcome)}))

    def has_left(self) -> bool:
        """One trainee is through; whether it was the last."""
        self._left -= 1
        return self._left <= 0

    def write_rows(self, name: str) -> None:
        if self.options.rows:
            file = Path(self.options.rows)
            file.with_name(f"{file.stem}{name}{file.suffix}").write_text("".join(f"{row}\n" for row in self._rows))


RUNS: dict[int, Run] = {}
"""The run of each environment; Locust gives its users nothing else to keep it in."""


@events.init_command_line_parser.add_listener  # type: ignore[untyped-decorator]  # Locust's own
def add_options(parser: LocustArgumentParser) -> None:
    drill = parser.add_argument_group("drill")
    drill.add_argument("--turns", type=int, default=5, help="turns of each session")
    drill.add_argument("--think", type=float, default=1.0, help="mean seconds between a reply and the next message")
    drill.add_argument("--seed", type=int, default=1, help="of the times to think")
    drill.add_argument("--data", default=".drillyard", help="folder of a running stack; its ready.json names the rest")
    drill.add_argument("--keys-file", default="", help="trainees' API keys, one a line")
    drill.add_argument("--scenario", default="", help="id of the scenario to play")
    drill.add_argument("--rows", default="", help="file for one JSON row per turn")
    drill.add_argument("--not-local", default="", help="name of another host than this machine, to load it on purpose")


@events.init.add_listener  # type: ignore[untyped-decorator]  # Locust's own
def prepare(environment: Environment, **_: object) -> None:
    options = environment.parsed_options
    if options is None:
        return
    try:
        aim = target(
            Asked(
                data=Path(options.data),
                base_urls=(options.host,) if options.host else (),
                keys_file=Path(options.keys_file) if options.keys_file else None,
                scenario=options.scenario or None,
                not_local=(options.not_local,) if options.not_local else (),
            )
        )
    except (TargetRefused, OSError) as error:
        sys.stderr.write(f"loadtests: {error}\n")
        sys.exit(2)
    environment.host = aim.base_url
    RUNS[id(environment)] = Run(options, aim)


@events.quitting.add_listener  # type: ignore[untyped-decorator]  # Locust's own
def report(environment: Environment, **_: object) -> None:
    run = RUNS.pop(id(environment), None)
    if run is None:
        return
    runner = environment.runner
    run.write_rows(f"-{runner.worker_index}" if isinstance(runner, WorkerRunner) else "")
    found = tally(run.outcomes)
    sys.stdout.write(told(found) + "\n")
    environment.process_exit_code = 0 if found.passed else 1


def told(found: Tally) -> str:
    """The figures of a run in a few lines."""
    share = "-" if found.cached_share is None else f"{100 * found.cached_share:.0f} %"
    lines = [
        f"{found.turns} turns, {sum(found.failures.values())} failed {found.failures or ''}".rstrip(),
        f"TTFT p50 {_ms(found.ttft_p50_s)}, p95 {_ms(found.ttft_p95_s)}; whole turn p50 {_ms(found.total_p50_s)}, "
        f"p95 {_ms(found.total_p95_s)}; per token p50 {_ms(found.tpot_p50_s)}",
        f"prompt tokens {found.prompt_tokens}, of which cached {share}",
        "passed" if found.passed else "failed",
    ]
    return "\n".join(lines)


def _ms(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds * 1000:.0f} ms"


class Trainee(FastHttpUser):
    """One session from its first turn to its end."""

    network_timeout = 300.0
    connection_timeout = 10.0

    @override
    def on_start(self) -> None:
        self.run_of_all = RUNS[id(self.environment)]
        self.number = self.run_of_all.next_trainee()
        keys = self.run_of_all.aim.keys
        self.headers = {"Authorization": f"Bearer {keys[self.number % len(keys)]}", "Accept-Encoding": "identity"}

    @task
    def play(self) -> None:
        session = self._opened()
        if session is not None:
            for turn in range(1, int(self.run_of_all.options.turns) + 1):
                self._take(session, turn)
            self.client.post(f"/v1/sessions/{session}/close", headers=self.headers, name="close")
        if self.run_of_all.has_left() and self.environment.runner is not None:
            gevent.spawn_later(0.1, self.environment.runner.quit)
        raise StopUser

    def _opened(self) -> str | None:
        order = {"scenario_id": self.run_of_all.aim.scenario}
        with self.client.post(
            "/v1/sessions", json=order, headers=self.headers, name="open", catch_response=True
        ) as answer:
            if answer.status_code == HTTPStatus.CREATED:
                answer.success()
                return str(answer.json()["id"])
            answer.failure(f"HTTP {answer.status_code}")
        self.run_of_all.heard(
            Hearing().outcome(at=0.0, failure="not_opened"), session="", intended_s=0.0, started_s=0.0
        )
        return None

    def _take(self, session: str, turn: int) -> None:
        intended = time.perf_counter() + self.run_of_all.think_s()
        gevent.sleep(max(0.0, intended - time.perf_counter()))
        key = str(uuid4())
        started = time.perf_counter()
        outcome = self._asked(session, turn, key)
        for _ in range(_RETRIES):
            if outcome.failure not in _REFUSED_FOR_A_MOMENT:
                break
            gevent.sleep(1.0)
            outcome = self._asked(session, turn, key)
        self.run_of_all.heard(outcome, session=session, intended_s=intended, started_s=started)

    def _asked(self, session: str, turn: int, key: str) -> TurnOutcome:
        started = time.perf_counter()
        with self.client.post(
            f"/v1/sessions/{session}/turns",
            json={"text": line(self.number, turn)},
            headers={**self.headers, "Accept": "text/event-stream", "Idempotency-Key": key},
            name="turn",
            stream=True,
            catch_response=True,
        ) as answer:
            outcome = _heard(answer, started)
            # Locust's own time of a stream ends with its headers.
            answer.request_meta["response_time"] = outcome.total_s * 1000
            if outcome.failure in _REFUSED_FOR_A_MOMENT:
                answer.request_meta["name"] = "turn, refused for a moment"
            if outcome.failure is None or outcome.failure in _REFUSED_FOR_A_MOMENT:
                answer.success()
            else:
                answer.failure(outcome.failure)
        return outcome


def _heard(answer: ResponseContextManager, started: float) -> TurnOutcome:
    hearing = Hearing()
    if answer.status_code != HTTPStatus.OK or answer._response is None:  # noqa: SLF001  the raw stream has no public name
        return hearing.outcome(at=time.perf_counter() - started, failure=f"http_{answer.status_code}")
    try:
        while raw := answer._response.readline(b"\n"):  # noqa: SLF001
            hearing.line(bytes(raw[:-1]), at=time.perf_counter() - started)
    except _LOST as error:
        return hearing.outcome(at=time.perf_counter() - started, failure=type(error).__name__)
    return hearing.outcome(at=time.perf_counter() - started)
