"""Plays the story: for each step a stack of its own, its replies and its scenario, and one staircase of trainees."""

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import httpx

from loadtests.conduct.conductor import conduct
from loadtests.conduct.order import DrillFailed, Order, Outcome
from loadtests.conduct.stack import ONE_CALLER_FOR_ALL, RunningStack, StackPlan, own_stack
from loadtests.domain.drill import Drill, Wire
from loadtests.domain.targets import DEFAULT
from loadtests.run_files import read_rows
from loadtests.run_folder import RunFolder
from loadtests.simulator.domain.profile import Profile
from loadtests.simulator.profile_files import load, text_of
from loadtests.story.measured import Given, given_by
from loadtests.story.profiles import AFTER, BEFORE, bounded, int8
from loadtests.story.scenario import reply, scenario
from loadtests.story.steps import Card, Step, Telling, drill_of_step
from loadtests.target import Asked, Target, target

_PATIENCE_S = 10.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A step that was played. `void`: why its figures say nothing."""

    given: Given
    void: str | None
    run: Path
    client_lag_p99_s: float | None


def card(which: Card) -> Profile:
    before, after = load(BEFORE), load(AFTER)
    match which:
        case Card.BEFORE:
            return before
        case Card.BOUNDED:
            return bounded(before, after)
        case Card.INT8:
            return int8(before, after)
        case Card.AFTER:
            return after


def told(steps: Sequence[Step], telling: Telling, *, runs: Path, say: Say) -> tuple[Chapter, ...]:
    """Raises `DrillFailed`, `StackFailed` and `TargetRefused` for a step that could not be played."""
    chapters = []
    for number, step in enumerate(steps, start=1):
        say(f"step {number} of {len(steps)}, {step.name}: {step.change}")
        chapters.append(_chapter(step, telling, runs=runs, say=say))
    return tuple(chapters)


def _chapter(step: Step, telling: Telling, *, runs: Path, say: Say) -> Chapter:
    profile, drill = card(step.card), drill_of_step(step, telling)
    with tempfile.TemporaryDirectory(prefix="drillyard-story-") as folder:
        file = Path(folder) / f"{profile.name}.json"
        file.write_text(text_of(profile))
        plan = StackPlan(
            replicas=telling.cards,
            profile=str(file),
            speed_up=telling.speed_up,
            window_tokens=step.window_tokens,
            environment=ONE_CALLER_FOR_ALL,
        )
        with own_stack(plan, say=say) as stack:
            outcome = conduct(_order(step, drill, stack, profile, telling, runs), say=say)
    given = given_by(
        step, outcome.figures, read_rows(outcome.folder), profile, cards=telling.cards, stair_s=telling.stair_s
    )
    say(_said(given))
    return Chapter(given, _void(outcome), outcome.folder.path, outcome.figures.client_lag.p99)


def _order(step: Step, drill: Drill, stack: RunningStack, profile: Profile, telling: Telling, runs: Path) -> Order:
    aim = target(Asked(data=stack.data, wire=step.wire, affinity=step.affinity))
    for replica in aim.replicas:
        _put(f"{replica.url}/sim/script", {"replies": [{"replies": [reply(telling.reply_tokens)]}]})
    began = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    return Order(
        drill=drill,
        target=_with_scenario(aim, step, stack),
        folder=RunFolder(runs / f"{began}-story-{step.name}-{drill.digest[:6]}"),
        targets=DEFAULT,
        facts={"fleet": f"sim:{telling.cards}:{profile.name}", "story": step.name},
    )


def _with_scenario(aim: Target, step: Step, stack: RunningStack) -> Target:
    body = scenario()
    if step.wire is Wire.CHAT:
        scenes = body["scenes"]
        scripts = [each["script"] for each in scenes] if isinstance(scenes, list) else []
        return replace(aim, system="\n\n".join([str(body["persona"]), str(body["instructions"]), *scripts]))
    ready = stack.ready()
    keys = ready["keys"]
    key = str(keys["instructor"]) if isinstance(keys, dict) else ""
    made = _post(f"{ready['base_url']}/v1/scenarios", body, key=key)
    return replace(aim, scenario=str(made["id"]))


def _post(url: str, body: Mapping[str, object], *, key: str) -> Mapping[str, object]:
    answer = _asked("POST", url, body, headers={"Authorization": f"Bearer {key}"})
    made: Mapping[str, object] = json.loads(answer)
    return made


def _put(url: str, body: Mapping[str, object]) -> None:
    _asked("PUT", url, body, headers={})


def _asked(method: str, url: str, body: Mapping[str, object], *, headers: Mapping[str, str]) -> bytes:
    try:
        answer = httpx.request(method, url, json=body, headers=dict(headers), timeout=_PATIENCE_S, trust_env=False)
        answer.raise_for_status()
    except httpx.HTTPError as error:
        raise DrillFailed(f"{method} {url}: {error}") from error
    return answer.content


def _void(outcome: Outcome) -> str | None:
    return outcome.void or outcome.incomplete


def _said(given: Given) -> str:
    ttft = "-" if given.ttft_p95_s is None else f"{given.ttft_p95_s:.2f} s"
    above = f"; above that {given.fails_with}" if given.fails_with else ""
    return f"{given.step}: {given.stable_per_card:g} sessions a card are stable, first token p95 {ttft}{above}"
