"""What a drill is to do, and which scenario it means."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.cli.failure import CommandFailed
from gateway.cli.wire import ScenarioView


@dataclass(frozen=True, slots=True)
class DrillPlan:
    scenario: str
    trainees: int
    turns: int
    think_s: float
    timeout_s: float
    seed: int
    lines: Sequence[str]
    drill: str | None = None
    """The class whose seats are taken."""


def chosen(scenarios: Sequence[ScenarioView], asked: str | None, *, default: str | None) -> ScenarioView:
    """The scenario of an id, a locale, a language or a part of the title; raises `CommandFailed` with what there is."""
    if not scenarios:
        raise CommandFailed("the server has no scenario", advice="write one with POST /v1/scenarios")
    if asked is None:
        return _unasked(scenarios, default)
    for matches in (_by_id, _by_locale, _by_language, _by_whole_title, _by_title):
        found = [scenario for scenario in scenarios if matches(scenario, asked.casefold())]
        if len(found) == 1:
            return found[0]
        if found:
            raise CommandFailed(f"{asked!r} names several scenarios", advice=f"give one id of: {_listed(found)}")
    raise CommandFailed(f"no scenario is named {asked!r}", advice=f"there are: {_listed(scenarios)}")


def check_turns(scenario: ScenarioView, turns: int) -> None:
    """A drill that the scenario's own limit would end is refused before it begins."""
    limit = scenario.limits.max_turns if scenario.limits is not None else None
    if limit is not None and turns > limit:
        raise CommandFailed(f"{scenario.title} ends after {limit} turns", advice=f"give --turns {limit} or less")


def think_time_s(plan: DrillPlan, *, trainee: int, turn: int) -> float:
    """Between half and one and a half of the plan's; the same for the same seed."""
    draw = random.Random(f"{plan.seed}/{trainee}/{turn}").uniform(0.5, 1.5)  # noqa: S311 - no secret hangs on it
    return plan.think_s * draw


def _unasked(scenarios: Sequence[ScenarioView], default: str | None) -> ScenarioView:
    for scenario in scenarios:
        if scenario.id == default or len(scenarios) == 1:
            return scenario
    raise CommandFailed("there are several scenarios", advice=f"give --scenario, one of: {_listed(scenarios)}")


def _by_id(scenario: ScenarioView, asked: str) -> bool:
    return scenario.id.casefold() == asked


def _by_locale(scenario: ScenarioView, asked: str) -> bool:
    return scenario.locale.casefold() == asked


def _by_language(scenario: ScenarioView, asked: str) -> bool:
    return scenario.locale.casefold().partition("-")[0] == asked


def _by_whole_title(scenario: ScenarioView, asked: str) -> bool:
    return scenario.title.casefold() == asked


def _by_title(scenario: ScenarioView, asked: str) -> bool:
    return asked in scenario.title.casefold()


def _listed(scenarios: Sequence[ScenarioView]) -> str:
    return ", ".join(f"{scenario.id} ({scenario.locale}, {scenario.title})" for scenario in scenarios)
