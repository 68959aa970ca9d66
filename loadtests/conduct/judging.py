"""Judges what was played: makes of a run's folder its figures, verdict and report, and enters it into the ledger."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from loadtests.conduct.order import Exit, Order, Outcome
from loadtests.conduct.parts import parts_of
from loadtests.conduct.playing import Played
from loadtests.domain.missing import missing
from loadtests.ledger.entry import keep
from loadtests.report.run_reading import account_of, write_page
from loadtests.run_files import RunDamaged, read_object, read_rows, write_object


def judged(order: Order, played: Played, failures: Sequence[str]) -> Outcome:
    """`failures`: faults that could not be caused, so that nothing is known of them."""
    void = (*spoiled(order, played), *(f"a fault could not be caused: {each}" for each in failures))
    account = account_of(order.folder, spoiled=void)
    write_object(order.folder.verdict, account.verdict.as_json())
    write_page(account, order.folder)
    keep(order.folder)
    return Outcome(
        folder=order.folder,
        figures=account.figures,
        verdict=account.verdict,
        reasons=account.explaining,
        void="; ".join(account.verdict.void) or None,
        incomplete=played.cut,
        exit_code=Exit.INTERRUPTED if played.is_interrupted else Exit(account.verdict.exit_code),
    )


def spoiled(order: Order, played: Played) -> Iterator[str]:
    """What the client did wrong, so that its figures say nothing of the servers."""
    if played.exit_code not in (None, 0):
        yield f"the trainees' process left with {played.exit_code}: {played.last_words or 'it said nothing'}"
    written = len(order.folder.all_lag())
    if written < order.workers:
        yield f"only {written} of {order.workers} workers played"
    for file in sorted(order.folder.path.glob("trouble-*.json")):
        if told := _trouble(file, is_cut=played.cut is not None):
            yield f"{file.stem.removeprefix('trouble-')}: {told}"
    if played.cut is not None:
        return
    ended = len(list(order.folder.path.glob("trouble-[0-9]*.json")))
    if ended < written:
        yield f"{written - ended} of {written} workers did not come to the end of their books"
    if lacking := missing(parts_of(order.drill), read_rows(order.folder)):
        yield f"of {lacking} messages of the timetable there is no row"


def _trouble(file: Path, *, is_cut: bool) -> str:
    """Of one worker, or of whoever directed them. In a run that was cut parts are left unplayed by whoever cut it."""
    try:
        kinds = read_object(file)
    except RunDamaged as error:
        return str(error)
    return ", ".join(f"{count} {kind}" for kind, count in kinds.items() if not (is_cut and kind == "unplayed"))
