"""The report of one run: the verdict in plain words, then everything that it rests on."""

from collections.abc import Iterator

from loadtests.domain.verdict import Standing, Whole
from loadtests.report import run_tables, server_charts, turn_charts
from loadtests.report.account import Account
from loadtests.report.definitions import DEFINITIONS
from loadtests.report.markup import Markup, tag, words
from loadtests.report.page import footer, page, paragraph, section, verdict
from loadtests.report.words import counted

_MOST_REASONS = 3


def run_page(account: Account) -> Markup:
    return page(title(account), _parts(account))


def title(account: Account) -> str:
    drill = account.seen.drill
    where = " on simulated replicas" if account.is_simulated else ""
    if drill.stairs:
        return f"Load drill: {drill.shape} up to {drill.stairs[-1]} trainees{where}"
    return f"Load drill: {drill.shape} of {drill.trainees}{where}"


def _parts(account: Account) -> Iterator[Markup]:
    tone, said = run_tables.headline(account)
    yield paragraph(f"{account.name}, {account.facts.get('bell_at', 'at a time that is not known')}", aside=True)
    yield verdict(tone, said, _why(account))
    yield section("Targets", run_tables.targets_table(account.verdict.judged))
    if account.reasons:
        yield section("What happened, most likely", run_tables.reasons_table(account))
    yield section("In figures", run_tables.times_table(account), run_tables.counts_table(account))
    yield section("Over time", turn_charts.over_time(account), turn_charts.load_over_time(account))
    yield section("As sessions grow", turn_charts.by_turn(account))
    yield section("As more take part", turn_charts.by_concurrency(account))
    yield section("Cold turns and failures", turn_charts.cold_turns(account), turn_charts.failures(account))
    yield section("Replicas", run_tables.replicas_table(account), server_charts.replica_charts(account))
    yield section("Gateway, Redis, Postgres", server_charts.process_charts(account))
    yield section("The client itself", turn_charts.client_lag(account))
    yield section("Circumstances", _folded("Drill, machine, versions", run_tables.circumstances(account)))
    yield footer(DEFINITIONS, *_closing(account))


def _why(account: Account) -> Iterator[str]:
    """In the order in which a reader asks."""
    if account.incomplete:
        yield f"It ended before its time: {account.incomplete}."
    for each in account.verdict.void:
        yield f"Because {each}."
    for judged in account.verdict.of(Standing.MISSED)[1:]:
        yield f"Also missed: {run_tables.told(judged)}."
    if account.verdict.whole is Whole.UNPROVEN:
        yield f"Not judged: {'; '.join(map(run_tables.unjudged, account.verdict.of(Standing.NOT_JUDGED)))}."
    if account.verdict.whole is Whole.MISSED:
        yield from _reasons(account)


def _reasons(account: Account) -> Iterator[str]:
    if not account.explaining:
        yield "Nothing that was seen of the servers explains it; the charts over time may."
    for at, reason in enumerate(account.explaining[:_MOST_REASONS]):
        evidence = f" ({'; '.join(reason.evidence)})" if reason.evidence else ""
        yield f"{'Likely reason' if at == 0 else 'Perhaps also'}: {reason.says}{evidence}"
    spoiled, explained = account.seen.share(account.seen.spoiled), max((e.share for e in account.explaining), default=1)
    if explained < spoiled / 2:
        yield f"Most of the {counted(len(account.seen.spoiled), 'turn')} that were late or failed had another reason."


def _folded(summary: str, inner: Markup) -> Markup:
    return tag("details", Markup(tag("summary", words(summary)) + inner))


def _closing(account: Account) -> Iterator[str]:
    yield "Everything on this page is made of the files beside it: rows, looks at the servers, events."
    if account.is_simulated:
        yield (
            "The replicas were simulated: what was asked, routed, cached and stored is measured; the engines' times "
            "and memory follow a profile."
        )
