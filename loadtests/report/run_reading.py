"""Reads a run's folder into what a report tells, and writes the report."""

import json
from collections.abc import Mapping, Sequence
from math import inf
from pathlib import Path

from loadtests.domain.diagnosis import likely_reasons
from loadtests.domain.figuring import figures_of
from loadtests.domain.reason import Seen
from loadtests.domain.targets import DEFAULT, Targets, UnusableTargets, read_targets
from loadtests.domain.verdict import Standing, judge
from loadtests.report.account import Account
from loadtests.report.run_page import run_page
from loadtests.run_files import (
    RunDamaged,
    read_drill,
    read_events,
    read_lag,
    read_object,
    read_processes,
    read_replicas,
    read_rows,
    write_object,
)
from loadtests.run_folder import RunFolder

BROKEN_OFF = "it was broken off, or is still being played"
"""What is to be said of a run whose conductor has not told its end."""


def write_report(folder: RunFolder, *, to: Path | None = None, price_per_hour: float | None = None) -> Account:
    """The page, and the figures beside it, made anew of what was measured; raises `RunDamaged`."""
    account = account_of(folder, price_per_hour=price_per_hour)
    write_page(account, folder, to=to)
    return account


def write_page(account: Account, folder: RunFolder, *, to: Path | None = None) -> None:
    """With the figures in the folder; raises `RunDamaged` where that cannot be."""
    page = run_page(account)
    try:
        write_object(folder.figures, account.figures.as_json())
        (to or folder.report).write_text(page, encoding="utf-8")
    except OSError as error:
        raise RunDamaged(f"{error.filename} cannot be written: {error.strerror}") from None


def account_of(
    folder: RunFolder, *, spoiled: Sequence[str] | None = None, price_per_hour: float | None = None
) -> Account:
    """All that is to be told, figures, verdict and reasons among it; raises `RunDamaged`.

    `spoiled` is what the rows do not say and makes the run void; None: what its conductor wrote down.
    """
    if not folder.drill.exists():
        raise RunDamaged(f"{folder.path} is not the folder of a load drill: there is no {folder.drill.name} in it")
    facts = read_object(folder.facts)
    targets = _targets(facts, folder)
    seen = seen_of(folder, targets, facts)
    incomplete = facts.get("incomplete", BROKEN_OFF)
    void = _void(folder) if spoiled is None else spoiled
    verdict = judge(seen.figures, targets, drill=seen.drill, spoiled=void, is_whole=not incomplete)
    missed = [each.target for each in verdict.of(Standing.MISSED)]
    price = price_per_hour if price_per_hour is not None else facts.get("price_per_hour")
    return Account(
        name=folder.path.resolve().name,
        seen=seen,
        lag=read_lag(folder),
        verdict=verdict,
        reasons=likely_reasons(seen),
        explaining=likely_reasons(seen, missed=missed) if missed else (),
        facts=facts,
        price_per_hour=float(price) if isinstance(price, int | float) else None,
        incomplete=str(incomplete) if incomplete else None,
    )


def seen_of(folder: RunFolder, targets: Targets, facts: Mapping[str, object]) -> Seen:
    """What a diagnosis is made of."""
    drill, rows, events = read_drill(folder), read_rows(folder), read_events(folder)
    replicas, processes = read_replicas(folder), read_processes(folder)
    figures = figures_of(
        rows,
        drill=drill,
        targets=targets.limits,
        replicas=replicas,
        processes=processes,
        events=events,
        lag=read_lag(folder),
    )
    return Seen(
        drill=drill,
        figures=figures,
        rows=rows,
        replicas=replicas,
        processes=processes,
        events=events,
        limits=targets.limits,
        client_lag_s=inf if targets.client_lag_p99_s is None else targets.client_lag_p99_s,
        load_average=_load_average(facts),
        cpus=_cpus(facts),
    )


def _load_average(facts: Mapping[str, object]) -> float | None:
    """Of the last minute of the run."""
    told = facts.get("load_average_after")
    first = told[0] if isinstance(told, list) and told else None
    return float(first) if isinstance(first, int | float) else None


def _cpus(facts: Mapping[str, object]) -> int | None:
    machine = facts.get("machine")
    cpus = machine.get("cpus") if isinstance(machine, dict) else None
    return cpus if isinstance(cpus, int) else None


def _targets(facts: Mapping[str, object], folder: RunFolder) -> Targets:
    told = facts.get("targets")
    if told is None:
        return DEFAULT
    try:
        return read_targets(json.dumps(told))
    except UnusableTargets as error:
        raise RunDamaged(f"{folder.facts} has targets that cannot be used: {error}") from None


def _void(folder: RunFolder) -> Sequence[str]:
    void = read_object(folder.verdict).get("void") if folder.verdict.exists() else None
    return [str(each) for each in void] if isinstance(void, list) else []
