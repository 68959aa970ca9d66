"""Makes figures and a verdict of a run's folder, and writes them beside what they are made of."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from loadtests.conduct.order import Exit, Order, Outcome
from loadtests.conduct.parts import parts_of
from loadtests.conduct.playing import Played
from loadtests.domain.figures import Figures
from loadtests.domain.figuring import figures_of
from loadtests.domain.limits import Limits
from loadtests.domain.missing import missing
from loadtests.domain.targets import Targets
from loadtests.domain.verdict import Whole, judge
from loadtests.ledger.entry import keep
from loadtests.report.run_reading import write_report
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


def judged(order: Order, played: Played, failures: Sequence[str]) -> Outcome:
    """`failures`: faults that could not be caused, so that nothing is known of them."""
    figures = figures_of_run(order.folder, order.targets)
    void = (*spoiled(order, played), *(f"a fault could not be caused: {each}" for each in failures))
    verdict = judge(figures, order.targets, drill=order.drill, spoiled=void)
    if played.cut is not None and verdict.whole is Whole.PASSED:
        verdict = replace(verdict, whole=Whole.UNPROVEN)  # what did not happen any more might have missed
    write_object(order.folder.figures, figures.as_json())
    write_object(order.folder.verdict, verdict.as_json())
    account = write_report(order.folder)
    keep(order.folder)
    return Outcome(
        folder=order.folder,
        figures=figures,
        verdict=verdict,
        reasons=account.explaining,
        void="; ".join(verdict.void) or None,
        incomplete=played.cut,
        exit_code=Exit.INTERRUPTED if played.is_interrupted else Exit(verdict.exit_code),
    )


def figures_of_run(folder: RunFolder, targets: Targets) -> Figures:
    """As often as one likes, from what was kept; raises `RunDamaged`."""
    return figures_of(
        read_rows(folder),
        drill=read_drill(folder),
        targets=Limits(ttft_s=targets.good_ttft_s, tpot_s=targets.good_tpot_s, e2e_s=targets.good_e2e_s),
        replicas=read_replicas(folder),
        processes=read_processes(folder),
        events=read_events(folder),
        lag=read_lag(folder),
    )


def spoiled(order: Order, played: Played) -> Iterator[str]:
    """What the client did wrong, so that its figures say nothing of the servers."""
    if played.exit_code not in (None, 0):
        yield f"the trainees' process left with {played.exit_code}: {played.last_words or 'it said nothing'}"
    written = len(order.folder.all_lag())
    if written < order.workers:
        yield f"only {written} of {order.workers} workers played"
    for file in sorted(order.folder.path.glob("trouble-*.json")):
        if told := _trouble(file):
            yield f"{file.stem.removeprefix('trouble-')}: {told}"
    if played.cut is not None:
        return
    ended = len(list(order.folder.path.glob("trouble-[0-9]*.json")))
    if ended < written:
        yield f"{written - ended} of {written} workers did not come to the end of their books"
    if lacking := missing(parts_of(order.drill), read_rows(order.folder)):
        yield f"of {lacking} messages of the timetable there is no row"


def _trouble(file: Path) -> str:
    """Of one worker, or of whoever directed them."""
    try:
        kinds = read_object(file)
    except RunDamaged as error:
        return str(error)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items())
