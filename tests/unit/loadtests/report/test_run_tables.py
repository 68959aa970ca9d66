"""The verdict in words, and the figures in tables."""

import re
from dataclasses import fields, replace
from math import inf

from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.domain.reason import Cause, Reason
from loadtests.domain.targets import DEFAULT, Targets
from loadtests.domain.verdict import judge
from loadtests.report import run_tables
from loadtests.report.account import Account
from tests.unit.loadtests.report.test_account import account
from tests.unit.loadtests.report.test_table import cells


def spread(value: float, count: int = 4000) -> Spread:
    return Spread(count=count, p50=value, p90=value, p95=value, p99=value, worst=value)


GOOD = Figures(
    turns=4000,
    good_turns=4000,
    ttft=spread(0.5),
    ttft_planned=spread(0.5),
    bell_ttft=spread(0.5),
    e2e=spread(2.5),
    warm_turns=3000,
    audited=10,
    client_lag=spread(0.001),
    by_replica=(Slice(key="replica-1", turns=4000, failed=0, ttft=Spread(), e2e=Spread(), tpot=Spread()),),
)


def judged(figures: Figures, **changes: object) -> Account:
    return replace(account(figures), verdict=judge(figures, DEFAULT), **changes)  # type: ignore[arg-type]  # by name


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_verdict_is_one_sentence() -> None:
    assert run_tables.headline(judged(GOOD)) == ("good", "Passed: every target was met.")
    late = replace(GOOD, ttft=spread(2.4))
    assert run_tables.headline(judged(late)) == ("bad", "Missed: first text, p95 2.4 s, at most 1.5 s.")
    later = replace(late, good_turns=3000)
    assert run_tables.headline(judged(later)) == ("bad", "Missed: first text, p95 2.4 s, at most 1.5 s, and 1 more.")
    assert run_tables.headline(judged(replace(GOOD, client_lag=spread(1))))[1].startswith("Void:")
    assert run_tables.headline(judged(replace(GOOD, audited=0)))[1].startswith("Not proven:")


def test_every_target_has_a_name_for_people() -> None:
    names = {each.name for each in fields(Targets) if not each.metadata["setting"]}
    assert names <= set(run_tables.TARGETS)


def test_targets_say_by_how_much_they_were_missed_and_what_would_let_them_be_judged() -> None:
    late = replace(GOOD, ttft=spread(2.25), e2e=spread(inf), bell_ttft=spread(0.5, 20), good_turns=3000)
    table = run_tables.targets_table(judged(late).verdict.judged)
    told = {row[0]: [plain(cell) for cell in row[1:]] for row in cells(table)}
    assert told["first text, p95"] == ["at most 1.5 s", "2.25 s", "by 750 ms (50 %)", "missed"]
    assert told["whole reply, p95"] == ["at most 8 s", "no answer", "", "missed"]
    assert told["good turns"][:2] == ["at least 95 %", "75 %"]
    assert told["first text of first turns, p95"][2] == "20 are too few for a p95; 80 more would do"
    assert 'class="bad"' in table


def test_what_does_not_apply_is_left_out() -> None:
    assert "hostile" in run_tables.targets_table(judged(GOOD).verdict.judged)
    chat = judge(GOOD, DEFAULT, drill=account().seen.drill)
    assert "hostile" not in run_tables.targets_table(chat.judged)


def test_what_is_not_judged_says_how_many_more_would_do() -> None:
    few = judge(replace(GOOD, bell_ttft=spread(0.5, 20), audited=0), DEFAULT)
    told = {run_tables.unjudged(each) for each in few.judged}
    assert "first text of first turns, p95 (80 more would do)" in told
    assert "turns lost from the record" in told


def test_reasons_stand_with_their_figures() -> None:
    reason = Reason(cause=Cause.QUEUE, says="It <queued>.", evidence=("a", "b"), share=0.25)
    assert cells(run_tables.reasons_table(account(reasons=(reason,))))[1] == ["It <queued>.", "a; b", "25 %"]


def test_times_are_told_with_failures_as_no_answer() -> None:
    told = cells(run_tables.times_table(account(replace(GOOD, ttft=Spread(count=9, p50=0.5, p95=inf)))))
    assert told[1] == ["first text", "500 ms", "-", "no answer", "-", "-", "9"]


def test_counts_tell_cost_record_and_processes() -> None:
    figures = replace(
        GOOD,
        completed=4,
        sessions=5,
        replica_seconds=7200,
        other_failures={"open: http_503": 2},
        cpu_s={"gateway": 12.5},
        memory_mb_most={"gateway": 240},
    )
    told = dict(cells(run_tables.counts_table(account(figures))))
    assert told["sessions"] == "5, of which 4 took every turn"
    assert told["replica-seconds"] == "7,200, 1,800 for each completed drill"
    assert told["cost of a drill"] == "1.5 at 3 for a replica's hour"
    assert told["other requests"] == "2 open: http_503"
    assert told["process gateway"] == "12.5 s of CPU, 240 MB of memory at most"
    without = dict(cells(run_tables.counts_table(account(GOOD, price_per_hour=None))))
    assert without["cost of a drill"].startswith("no price was given")
    assert "other requests" not in without


def test_each_replica_has_a_row() -> None:
    found = Slice(
        key="replica-1", turns=1200, failed=3, ttft=spread(0.5), e2e=Spread(), tpot=Spread(), sessions=9, kv_usage=0.5
    )
    told = cells(run_tables.replicas_table(account(replace(GOOD, by_replica=(found,)))))
    assert told[1] == ["replica-1", "1,200", "3", "9", "500 ms", "500 ms", "-", "50 %", "-"]


def test_circumstances_are_told_by_their_names_however_deep_they_lie() -> None:
    facts = {"machine": {"cpus": 2}, "replicas": [{"id": "a"}, {"id": "b"}], "load": [0.5, 1], "long": "x" * 300}
    told = dict(cells(run_tables.circumstances(account(facts=facts))))
    assert (told["machine.cpus"], told["replicas.2.id"], told["load"]) == ("2", "b", "0.5, 1")
    assert told["drill.trainees"] == "20"
    assert len(told["long"]) == 200
    assert re.fullmatch("[0-9a-f]{16}", told["drill"])
