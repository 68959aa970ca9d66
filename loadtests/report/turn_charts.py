"""Charts of what the trainees met: times to the first text, throughput, failures, cold turns, and their own client."""

from collections.abc import Mapping, Sequence

from loadtests.domain.figures import Slice
from loadtests.report.account import Account
from loadtests.report.columns import Bars, bar_chart
from loadtests.report.frame import Mark
from loadtests.report.lines import Series, line_chart
from loadtests.report.markup import Markup
from loadtests.report.page import figure, paragraph
from loadtests.report.scale import Axis
from loadtests.report.table import bars_table, lines_table
from loadtests.report.thinning import most, thinned, width_for
from loadtests.report.words import counted, number

_FIRST_TEXT = Axis(label="first text", unit="s")
_TRAINEES = Axis(label="trainees in session", is_count=True)
_TURN = Axis(label="turn number", is_count=True)
_CACHED = Axis(label="cached", unit="%", low=0, high=100)


def over_time(account: Account) -> Markup:
    slices = account.figures.over_time
    note = (
        "Of the turns that began in each stretch of time. A turn that failed counts as one that never had a first "
        "text: an arrow at the upper edge means that so many failed. Shaded: from a fault until what was broken "
        "answered again."
    )
    return _lines("Time to first text", _percentiles(slices), account.time, _FIRST_TEXT, account.marks(), note)


def load_over_time(account: Account) -> Markup:
    slices = account.figures.over_time
    series = [Series("turns per second", [(_at(each), each.turns_per_s) for each in slices])]
    failed = (
        [Series("failed turns", [(_at(each), float(each.failed)) for each in slices])] if account.figures.failed else []
    )
    sessions = [Series("sessions open", [(_at(each), each.sessions) for each in slices])]
    return Markup(
        _lines("Throughput", series, account.time, Axis(label="turns/s"), account.marks())
        + (
            _lines("Failed turns", failed, account.time, Axis(label="turns", is_count=True), account.marks())
            if failed
            else ""
        )
        + _lines("Sessions", sessions, account.time, Axis(label="sessions", is_count=True), account.marks())
    )


def by_turn(account: Account) -> Markup:
    slices = account.figures.by_turn
    cached = [(_at(each), None if each.cached_share is None else 100 * each.cached_share) for each in slices]
    chart = _lines(
        "Time to first text by turn number",
        _percentiles(slices)[:2],
        _TURN,
        _FIRST_TEXT,
        (),
        "A session grows with each turn: a line that stays level means that its history is not computed anew.",
    )
    if all(value is None for _, value in cached):
        return chart
    return Markup(chart + _lines("Prompt tokens found in the cache", [Series("cached", cached)], _TURN, _CACHED, ()))


def by_concurrency(account: Account) -> Markup:
    slices, knee = account.figures.by_concurrency, account.figures.knee
    marks = [] if knee is None else [Mark(at=knee, label=f"knee: {number(knee)} trainees")]
    throughput = [Series("turns per second", [(_at(each), each.turns_per_s) for each in slices])]
    first_text = [Series("p95", [(_at(each), each.ttft.p95) for each in slices])]
    told = "Beyond the knee more trainees bring hardly more turns, and each waits longer." if marks else ""
    return Markup(
        _lines("Throughput against concurrency", throughput, _TRAINEES, Axis(label="turns/s"), marks, told)
        + _lines("Time to first text against concurrency", first_text, _TRAINEES, _FIRST_TEXT, marks)
    )


def failures(account: Account) -> Markup:
    if not account.figures.failures:
        return paragraph("No turn failed.")
    return _bars("Failed turns by kind", account.figures.failures, Axis(label="what went wrong"))


def cold_turns(account: Account) -> Markup:
    if not account.figures.warm_turns:
        return paragraph("Whether turns were cold is not known: no server told what it found in its cache.")
    if not account.figures.cold:
        return paragraph(f"None of {counted(account.figures.warm_turns, 'second or later turn')} was cold.")
    note = f"Of {account.figures.warm_turns:,} second and later turns whose server tells what it found in its cache."
    return _bars("Cold turns by reason", account.figures.cold, Axis(label="why they were computed anew"), note)


def client_lag(account: Account) -> Markup:
    """The worst of each stretch, in real milliseconds, of each worker."""
    times = [sample.at_s for sample in account.lag]
    width = width_for(times, least=account.look_s)
    workers = sorted({sample.worker for sample in account.lag})
    series = [
        Series(
            f"worker {worker}",
            thinned(
                account.within((s.at_s, 1000 * s.lag_s) for s in account.lag if s.worker == worker),
                width=width,
                keep=most,
            ),
        )
        for worker in workers
    ]
    note = "How late the client itself woke up, the worst of each stretch. It is not the servers' time."
    return _lines("The client's own lag", series, account.time, Axis(label="late", unit="ms"), account.marks(), note)


def _lines(title: str, series: Sequence[Series], x: Axis, y: Axis, marks: Sequence[Mark], note: str = "") -> Markup:
    return figure(line_chart(title, series, x=x, y=y, marks=marks), lines_table(series, x=x, y=y), note)


def _bars(title: str, counts: Mapping[str, int], x: Axis, note: str = "") -> Markup:
    ranked = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    names, y = [name for name, _ in ranked], Axis(label="turns", is_count=True)
    bars = [Bars("turns", [float(count) for _, count in ranked])]
    return figure(bar_chart(title, names, bars, x=x, y=y), bars_table(names, bars, x=x, y=y), note)


def _percentiles(slices: Sequence[Slice]) -> list[Series]:
    return [
        Series("p50", [(_at(each), each.ttft.p50) for each in slices]),
        Series("p95", [(_at(each), each.ttft.p95) for each in slices]),
        Series("p99", [(_at(each), each.ttft.p99) for each in slices]),
    ]


def _at(each: Slice) -> float:
    return float(each.key)
