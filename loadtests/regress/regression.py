"""Plays a suite, drill by drill, and holds each against what was accepted; what fails does not stop the rest."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from loadtests.conduct.order import DrillFailed
from loadtests.conduct.stack import StackFailed
from loadtests.domain.compared import Compared, Finding, Judging
from loadtests.domain.verdict import Whole
from loadtests.ledger.baselines import Baselines, Place
from loadtests.ledger.book import Ledger, NoSuchRun
from loadtests.ledger.comparing import Held, held, side_of
from loadtests.ledger.entry import Entry, keep
from loadtests.regress.suite import Item, Suite
from loadtests.run_files import RunDamaged, read_drill
from loadtests.run_folder import RunFolder
from loadtests.target import TargetRefused

Play = Callable[[Item], RunFolder]
Say = Callable[[str], None]

_METRICS_OF_A_DRILL = 13
"""So many intervals a comparison has: with each, and each drill, chance has one more to be wrong about."""
_WRONGLY = 0.05
"""How often a whole regression may call something worse or better that nothing was done to."""
MATTERS = 0.05
"""A change by less than this share is none to act upon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What became of one drill of the suite."""

    name: str
    entries: tuple[Entry, ...] = ()
    """Of its runs."""
    baseline: tuple[str, ...] = ()
    """The runs that it was held against."""
    held: Held | None = None
    place: Place | None = None
    failure: str | None = None
    """Why it could not be played, or not be held against its baseline."""

    @property
    def whole(self) -> Whole | None:
        """The worst of its runs."""
        wholes = [Whole(each.whole) for each in self.entries if each.whole is not None]
        return min(wholes, key=_WORST_FIRST.index, default=None)

    @property
    def is_acceptable(self) -> bool:
        """Whether others may be held against it: it was played to its end, and tells of the servers, good or bad."""
        wholes = [each.whole for each in self.entries if each.incomplete is None]
        return bool(wholes) and len(wholes) == len(self.entries) and not {None, Whole.VOID.value} & set(wholes)

    def changed(self, finding: Finding) -> tuple[Compared, ...]:
        return () if self.held is None else self.held.comparison.found(finding)


def _digest(folder: RunFolder, item: Item) -> str:
    """Of the drill as it was played, but for the window, which is the fleet's and may be the very change."""
    return replace(read_drill(folder), window_tokens=item.drill.window_tokens).digest


_WORST_FIRST = (Whole.MISSED, Whole.VOID, Whole.UNPROVEN, Whole.PASSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    suite: str
    lines: tuple[Line, ...]
    is_interrupted: bool = False

    @property
    def exit_code(self) -> int:
        """1 when something became worse, was missed, or could not be played; 3 when a run was void."""
        if self.is_interrupted:
            return 130
        if any(each.failure or each.changed(Finding.WORSE) or each.whole is Whole.MISSED for each in self.lines):
            return 1
        return 3 if any(each.whole is Whole.VOID for each in self.lines) else 0

    def acceptable(self) -> Mapping[Place, tuple[str, ...]]:
        return {
            each.place: tuple(entry.run for entry in each.entries)
            for each in self.lines
            if each.place is not None and each.is_acceptable
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Regress:
    """How a suite is played: how often each drill, and what of it matters."""

    ledger: Ledger
    play: Play
    say: Say
    rounds: int = 1
    matters: float = MATTERS
    lines: list[Line] = field(default_factory=list)

    def __call__(self, suite: Suite) -> Regression:
        """`KeyboardInterrupt` from `play` ends it; what was played until then is told."""
        level = 1 - _WRONGLY / (_METRICS_OF_A_DRILL * len(suite.items))
        try:
            for at, item in enumerate(suite.items, start=1):
                self.lines.append(self._line(suite, item, f"[{at}/{len(suite.items)}] {item.name}", level))
        except KeyboardInterrupt:
            return Regression(suite=suite.name, lines=tuple(self.lines), is_interrupted=True)
        return Regression(suite=suite.name, lines=tuple(self.lines))

    def _line(self, suite: Suite, item: Item, told: str, level: float) -> Line:
        folders: list[RunFolder] = []
        try:
            for at in range(1, self.rounds + 1):
                self.say(f"{told}, run {at} of {self.rounds}" if self.rounds > 1 else told)
                folders.append(self.play(item))
            entries = tuple(keep(folder) for folder in folders)
            place = Place(suite.name, item.name, _digest(folders[0], item), entries[0].machine)
        except (DrillFailed, RunDamaged, StackFailed, TargetRefused) as error:
            self.say(f"{told} could not be played: {error}")
            return Line(name=item.name, failure=str(error))
        return self._held(Line(name=item.name, entries=entries, place=place), folders, level)

    def _held(self, line: Line, folders: Sequence[RunFolder], level: float) -> Line:
        names: tuple[str, ...] = ()
        try:
            names = Baselines(self.ledger.folder).runs_of(line.place) if line.place is not None else ()
            if not names:
                return line
            before = side_of([self.ledger.find(name) for name in names])
            found = held(before, side_of(folders), judging=Judging(level=level, matters=self.matters))
        except (NoSuchRun, RunDamaged) as error:
            return Line(
                name=line.name,
                entries=line.entries,
                place=line.place,
                baseline=names,
                failure=f"its baseline cannot be read: {error}",
            )
        return Line(name=line.name, entries=line.entries, place=line.place, baseline=names, held=found)
