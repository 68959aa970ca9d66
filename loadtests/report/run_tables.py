"""What a report tells in tables: the targets, the reasons, the figures, each replica, and the circumstances."""

from collections.abc import Iterator, Mapping, Sequence
from math import isinf

from loadtests.domain.figures import Spread
from loadtests.domain.verdict import Judged, Standing, Whole
from loadtests.report.account import Account
from loadtests.report.markup import Markup
from loadtests.report.page import facts
from loadtests.report.table import table
from loadtests.report.words import NOTHING, number, seconds, share

TARGETS: Mapping[str, str] = {
    "turns": "turns played",
    "ttft_p95_s": "first text, p95",
    "ttft_planned_p95_s": "first text from the timetable, p95",
    "bell_ttft_p95_s": "first text of first turns, p95",
    "tpot_p95_s": "time per token, p95",
    "e2e_p95_s": "whole reply, p95",
    "goodput_share": "good turns",
    "failure_share": "failed turns",
    "cold_share": "cold turns",
    "cold_moved_share": "cold turns that moved",
    "cold_lost_share": "cold turns after their replica was lost",
    "cold_folded_share": "cold turns with folded history",
    "cold_evicted_share": "cold turns let go by the cache",
    "affinity_broken": "affinity broken",
    "lost_turns": "turns lost from the record",
    "doubled_turns": "turns doubled in the record",
    "altered_turns": "turns altered in the record",
    "false_blocks": "harmless turns blocked",
    "let_in": "hostile requests let in",
}
_TONES = {Standing.MET: "good", Standing.MISSED: "bad", Standing.NOT_JUDGED: "doubt", Standing.IDLE: ""}
_MOST_FACT = 200


def headline(account: Account) -> tuple[str, str]:
    """The tone of the verdict, and the verdict in one sentence."""
    match account.verdict.whole:
        case Whole.PASSED:
            return "good", "Passed: every target was met."
        case Whole.MISSED:
            missed = account.verdict.of(Standing.MISSED)
            first = f"{told(missed[0])}" if missed else ""
            more = f", and {len(missed) - 1} more" if len(missed) > 1 else ""
            return "bad", f"Missed: {first}{more}."
        case Whole.VOID:
            return "doubt", "Void: nothing may be concluded from this run."
        case Whole.UNPROVEN:
            return "doubt", "Not proven: nothing was missed, but not everything could be judged."


def told(judged: Judged) -> str:
    limit = "at least" if judged.is_floor else "at most"
    name = TARGETS.get(judged.target, judged.target)
    return f"{name} {_value(judged.target, judged.measured)}, {limit} {_value(judged.target, judged.limit)}"


def unjudged(judged: Judged) -> str:
    more = f" ({judged.more:,} more would do)" if judged.more else ""
    return f"{TARGETS.get(judged.target, judged.target)}{more}"


def targets_table(judged: Sequence[Judged]) -> Markup:
    shown = [each for each in judged if each.standing is not Standing.IDLE]
    rows = [
        [
            TARGETS.get(each.target, each.target),
            _unbroken(("at least " if each.is_floor else "at most ") + _value(each.target, each.limit)),
            _unbroken(_value(each.target, each.measured)),
            _remark(each),
            _unbroken(each.standing.value),
        ]
        for each in shown
    ]
    tones = [_TONES[each.standing] for each in shown]
    return table(["target", "limit", "measured", "", ""], rows, tones=tones)


def reasons_table(account: Account) -> Markup:
    rows = [[each.says, "; ".join(each.evidence), share(each.share)] for each in account.reasons]
    return table(["what happened", "the figures that say so", "of all turns"], rows)


def times_table(account: Account) -> Markup:
    figures = account.figures
    spreads = {
        "first text": figures.ttft,
        "first text from the timetable": figures.ttft_planned,
        "first text of first turns": figures.bell_ttft,
        "whole reply": figures.e2e,
        "time per token": figures.tpot,
        "longest pause": figures.longest_gap,
        "client lag (real)": figures.client_lag,
    }
    rows = [[name, *_spread(each)] for name, each in spreads.items()]
    return table(["", "p50", "p90", "p95", "p99", "worst", "of"], rows)


def counts_table(account: Account) -> Markup:
    return facts(_counts(account))


def replicas_table(account: Account) -> Markup:
    rows = [
        [
            each.key,
            f"{each.turns:,}",
            f"{each.failed:,}",
            number(each.sessions),
            seconds(each.ttft.p50),
            seconds(each.ttft.p95),
            share(each.cached_share),
            share(each.kv_usage),
            number(each.preemptions),
        ]
        for each in account.figures.by_replica
    ]
    head = ["replica", "turns", "failed", "sessions", "first text p50", "p95", "cached", "most KV", "preemptions"]
    return table(head, rows)


def circumstances(account: Account) -> Markup:
    """The drill and everything that is known of where it was played, by dotted names."""
    drill = account.seen.drill
    return facts([("drill", drill.digest), *_flat("drill", drill.as_json()), *_flat("", account.facts)])


def _counts(account: Account) -> Iterator[tuple[str, str]]:
    figures = account.figures
    yield "turns", f"{figures.turns:,}, of which {figures.failed:,} failed ({share(figures.failure_share)})"
    yield "sessions", f"{figures.sessions:,}, of which {figures.completed:,} took every turn"
    yield "length", seconds(figures.duration_s)
    yield "throughput", f"{number(figures.turns_per_s)} turns/s, {number(figures.goodput_per_s)} good turns/s"
    yield "output", number(figures.output_tokens_per_s, "tokens/s")
    yield "prompt tokens", f"{figures.prompt_tokens:,}, {share(figures.cached_share)} from the cache"
    yield "cold turns", f"{share(figures.cold_share)} of {figures.warm_turns:,} known"
    yield (
        "affinity",
        f"{figures.affinity_broken:,} turns broken, {figures.affinity_moved:,} moved after a fault or drain",
    )
    yield (
        "record",
        (
            f"{figures.audited:,} sessions read: {figures.lost_turns:,} turns lost, {figures.doubled_turns:,} doubled, "
            f"{figures.altered_turns:,} altered"
        ),
    )
    if figures.other_failures:
        yield "other requests", ", ".join(f"{count} {kind}" for kind, count in sorted(figures.other_failures.items()))
    yield (
        "replica-seconds",
        (f"{number(figures.replica_seconds)}, {number(account.replica_seconds_per_drill)} for each completed drill"),
    )
    yield "cost of a drill", _cost(account)
    for name, used in sorted(figures.cpu_s.items()):
        most = figures.memory_mb_most.get(name)
        yield f"process {name}", f"{number(used)} s of CPU, {number(most, 'MB')} of memory at most"


def _cost(account: Account) -> str:
    if account.price_per_hour is None:
        return "no price was given (--price, of one replica for an hour)"
    return f"{number(account.cost_per_drill)} at {number(account.price_per_hour)} for a replica's hour"


def _spread(spread: Spread) -> list[str]:
    known = (spread.p50, spread.p90, spread.p95, spread.p99, spread.worst)
    return [*map(seconds, known), f"{spread.count:,}"]


def _value(target: str, value: float | None) -> str:
    if value is None:
        return NOTHING
    if target.endswith("_share"):
        return share(value)
    return seconds(value) if target.endswith("_s") else number(value)


def _remark(judged: Judged) -> str:
    said = []
    if judged.missed_by is not None and not isinf(judged.missed_by):
        part = f" ({share(judged.missed_by_share)})" if judged.missed_by_share is not None else ""
        said.append(f"by {_value(judged.target, judged.missed_by)}{part}")
    said += [judged.why] if judged.why else []
    said += [f"{judged.more:,} more would do"] if judged.more else []
    return "; ".join(said)


def _unbroken(text: str) -> str:
    return text.replace(" ", "\N{NO-BREAK SPACE}")


def _flat(name: str, value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), each)
    elif isinstance(value, list | tuple) and any(isinstance(each, Mapping) for each in value):
        for at, each in enumerate(value, start=1):
            yield from _flat(f"{name}.{at}", each)
    else:
        text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        yield name, text if len(text) <= _MOST_FACT else f"{text[: _MOST_FACT - 1]}…"
