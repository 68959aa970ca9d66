"""Takes runs out of the ledger, pools those of each side, and holds the sides against each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from loadtests.domain import spread
from loadtests.domain.compared import Judging
from loadtests.domain.comparison import Comparison, compare
from loadtests.domain.figuring import turns_of
from loadtests.domain.likeness import Circumstances, fleet_change, unlike
from loadtests.domain.measured import RunSeen, run_seen
from loadtests.domain.rows import Row
from loadtests.ledger.book import Ledger, NoSuchRun
from loadtests.ledger.entry import fleet_of, machine_digest
from loadtests.report.account import Account
from loadtests.report.run_reading import account_of
from loadtests.run_folder import RunFolder

TurnTimes = Sequence[tuple[int, float | None, float | None]]
"""Of each turn number: half of all first texts came within the first, 95 of 100 within the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideRuns:
    """The runs of one side, read."""

    names: tuple[str, ...]
    seen: tuple[RunSeen, ...]
    circumstances: tuple[Circumstances, ...]
    by_turn: TurnTimes

    @property
    def told(self) -> str:
        return " + ".join(self.names)


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Two sides, and what came of holding one against the other."""

    before: SideRuns
    after: SideRuns
    comparison: Comparison
    warnings: tuple[str, ...]
    """Why it may not be believed."""
    change: str | None
    """What differs between the fleets."""

    def as_json(self) -> dict[str, object]:
        return {
            "before": list(self.before.names),
            "after": list(self.after.names),
            "not_comparable": list(self.warnings),
            "fleet_change": self.change,
            "drawn": self.comparison.of,
            "units": list(self.comparison.units),
            "metrics": [each.as_json() for each in self.comparison.metrics],
        }


def runs_named(ledger: Ledger, words: str) -> tuple[RunFolder, ...]:
    """Of `A1,A2`; raises `NoSuchRun`."""
    found = tuple(ledger.find(word.strip()) for word in words.split(",") if word.strip())
    if not found:
        raise NoSuchRun(f"{words!r} names no run")
    if len({each.path.resolve() for each in found}) < len(found):
        raise NoSuchRun(f"{words} names a run twice, which would count it twice")
    return found


def side_of(folders: Sequence[RunFolder]) -> SideRuns:
    """Raises `RunDamaged`."""
    accounts = [account_of(folder) for folder in folders]
    return SideRuns(
        names=tuple(each.name for each in accounts),
        seen=tuple(_seen(each) for each in accounts),
        circumstances=tuple(_circumstances(each) for each in accounts),
        by_turn=_by_turn([turn for each in accounts for turn in turns_of(each.seen.rows)]),
    )


def held(before: SideRuns, after: SideRuns, *, judging: Judging | None = None) -> Held:
    """The draws depend on the runs alone, so that the same comparison always says the same."""
    digests = [each.drill.digest for side in (before, after) for each in side.circumstances]
    return Held(
        before=before,
        after=after,
        comparison=compare(before.seen, after.seen, seed=" ".join(digests), judging=judging),
        warnings=unlike(before.circumstances, after.circumstances),
        change=fleet_change(before.circumstances[0], after.circumstances[0]),
    )


def _seen(account: Account) -> RunSeen:
    seen = account.seen
    return run_seen(seen.rows, figures=seen.figures, limits=seen.limits, history=seen.drill.history)


def _circumstances(account: Account) -> Circumstances:
    return Circumstances(
        run=account.name,
        drill=account.seen.drill,
        machine=machine_digest(account.facts),
        fleet=fleet_of(account.facts),
        targets=account.verdict.targets,
        whole=account.verdict.whole,
        incomplete=account.incomplete,
    )


def _by_turn(turns: Sequence[Row]) -> TurnTimes:
    numbered: dict[int, list[Row]] = {}
    for turn in turns:
        if turn.turn is not None:
            numbered.setdefault(turn.turn, []).append(turn)
    spreads = {number: spread.of("ttft", rows) for number, rows in sorted(numbered.items())}
    return [(number, each.p50, each.p95) for number, each in spreads.items()]
