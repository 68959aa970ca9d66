"""Charts of the servers while the trainees played: memory, queues and sessions of replicas, and our own processes."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from loadtests.domain.looks import by_process, cpu_share
from loadtests.domain.server import ProcessSample, ReplicaSample
from loadtests.report.account import Account
from loadtests.report.lines import Point, Series, line_chart
from loadtests.report.markup import Markup, joined
from loadtests.report.page import figure, paragraph
from loadtests.report.scale import Axis
from loadtests.report.table import lines_table
from loadtests.report.thinning import last, lines_of, most, thinned, thinning_note, width_for

_MUCH = 0.2
Looks = Mapping[str, Sequence[ReplicaSample]]


def replica_charts(account: Account) -> Markup:
    looks = account.seen.looks
    if not looks:
        return paragraph("No replica was looked at: their addresses were not known, or the fleet's key was not given.")
    return joined(
        [
            _of_replicas(account, "KV memory in use", _kv, _kv_axis(account), most),
            _preemptions(account),
            _work(account),
            _of_replicas(
                account, "Requests waiting at each replica", _waiting, Axis(label="requests", is_count=True), most
            ),
            _of_replicas(account, "Sessions at each replica", _sessions, Axis(label="sessions", is_count=True), last),
        ]
    )


def process_charts(account: Account) -> Markup:
    looks = by_process(account.seen.processes)
    if not looks:
        return paragraph("No process of the stack runs on this machine, so none was looked at.")
    speed_up = account.seen.drill.speed_up
    cpu = {name: _cpu(samples, speed_up) for name, samples in looks.items()}
    memory = {name: [(each.at_s, each.memory_mb) for each in samples] for name, samples in looks.items()}
    return joined(
        [
            _processes(account, "Processor time", cpu, Axis(label="of one core", unit="%")),
            _processes(account, "Memory", memory, Axis(label="resident", unit="MB")),
        ]
    )


def _of_replicas(
    account: Account,
    title: str,
    told: Callable[[ReplicaSample], float | None],
    y: Axis,
    keep: Callable[[Sequence[float]], float],
) -> Markup:
    looks = account.seen.looks
    width = _width(account)
    points = {name: account.within((each.at_s, told(each)) for each in seen) for name, seen in looks.items()}
    series = lines_of(points, width=width, keep=keep)
    note = thinning_note(width, least=account.look_s, lines=len(looks))
    chart = line_chart(title, series, x=account.time, y=y, marks=account.marks())
    return figure(chart, lines_table(series, x=account.time, y=y), note)


def _preemptions(account: Account) -> Markup:
    """Of all replicas, by the spans of the turns' own chart."""
    y = Axis(label="preemptions", is_count=True)
    told = [(float(each.key), each.preemptions) for each in account.figures.over_time]
    series = [Series("preemptions", [(at, None if count is None else float(count)) for at, count in told])]
    note = "Requests whose memory was taken away in mid-reply, and which are computed anew."
    chart = line_chart("Preemptions", series, x=account.time, y=y, marks=account.marks())
    return figure(chart, lines_table(series, x=account.time, y=y), note)


def _work(account: Account) -> Markup:
    """All replicas together."""
    width, y = _width(account), Axis(label="requests", is_count=True)
    series = [
        Series("running", account.within(_together(account.seen.looks, lambda each: each.running, width))),
        Series("waiting", account.within(_together(account.seen.looks, lambda each: each.waiting, width))),
    ]
    chart = line_chart("Requests at all replicas", series, x=account.time, y=y, marks=account.marks())
    return figure(chart, lines_table(series, x=account.time, y=y))


def _together(looks: Looks, told: Callable[[ReplicaSample], int | None], width: float) -> list[Point]:
    sums: dict[float, float] = {}
    for seen in looks.values():
        for at, value in thinned([(each.at_s, told(each)) for each in seen], width=width, keep=most):
            if value is not None:
                sums[at] = sums.get(at, 0.0) + value
    return [(at, value) for at, value in sorted(sums.items())]


def _processes(account: Account, title: str, points: Mapping[str, Sequence[Point]], y: Axis) -> Markup:
    width = width_for([at for each in points.values() for at, _ in each], least=account.look_s)
    series = [Series(name, thinned(account.within(each), width=width, keep=most)) for name, each in points.items()]
    note = thinning_note(width, least=account.look_s, lines=0)
    chart = line_chart(title, series, x=account.time, y=y, marks=account.marks())
    return figure(chart, lines_table(series, x=account.time, y=y), note)


def _cpu(samples: Sequence[ProcessSample], speed_up: float) -> list[Point]:
    return [
        (after.at_s, 100 * cpu_share(before, after, speed_up=speed_up))
        for before, after in pairwise(samples)
        if after.at_s > before.at_s
    ]


def _width(account: Account) -> float:
    return width_for([each.at_s for each in account.seen.replicas], least=account.look_s)


def _kv_axis(account: Account) -> Axis:
    """All of the memory, unless so little is used that nothing would be seen."""
    most = account.figures.kv_usage_most or 0.0
    return Axis(label="KV blocks held", unit="%", low=0, high=100 if most >= _MUCH else None)


def _kv(look: ReplicaSample) -> float | None:
    return None if look.kv_usage is None else 100 * look.kv_usage


def _waiting(look: ReplicaSample) -> float | None:
    return look.waiting


def _sessions(look: ReplicaSample) -> float | None:
    return look.sessions
