"""What the sample data of a fresh stack consists of: the keys to try it with and the scenarios to play."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    operator: str = field(repr=False)
    instructor: str = field(repr=False)
    service: str = field(repr=False)
    trainees: tuple[str, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class SeedScenario:
    id: str
    locale: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    tenant: str
    keys: Keys
    scenarios: tuple[SeedScenario, ...]


# Given the environment the gateway will run with; repeating it on a seeded database gives the same scenarios.
SeedDatabase = Callable[[Mapping[str, str]], Seed]
