"""The report of a run, whole."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.domain.drill import Drill, Shape
from loadtests.domain.figures import Figures
from loadtests.domain.reason import Cause, Reason
from loadtests.domain.targets import DEFAULT
from loadtests.domain.verdict import judge
from loadtests.report.account import Account
from loadtests.report.definitions import DEFINITIONS
from loadtests.report.run_page import run_page, title
from loadtests.report.run_reading import account_of
from tests.support.load_runs import a_run
from tests.unit.loadtests.report.test_account import account
from tests.unit.loadtests.report.test_page import Balance
from tests.unit.loadtests.report.test_run_tables import GOOD, spread

MEGABYTE = 1_000_000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Account:
    facts = {"replicas": [{"id": "replica-1", "profile": "after"}], "note": "<script>alert(1)</script>"}
    return account_of(a_run(tmp_path_factory.mktemp("runs") / "class", facts=facts))


def judged(figures: Figures, **changes: object) -> str:
    return run_page(account(figures, verdict=judge(figures, DEFAULT), **changes))


def test_it_is_one_page_that_fetches_nothing(run: Account) -> None:
    shown = run_page(run)
    assert not re.search(r"https?:|src=|url\(|@import|<script|<link", shown)
    balance = Balance()
    balance.feed(shown)
    assert not balance.open


def test_it_has_every_chart_and_every_definition(run: Account) -> None:
    shown = run_page(run)
    for name in (
        "Time to first text",
        "Throughput",
        "Failed turns",
        "Sessions",
        "Time to first text by turn number",
        "Throughput against concurrency",
        "Time to first text against concurrency",
        "KV memory in use",
        "Preemptions",
        "Requests at all replicas",
        "Sessions at each replica",
        "Processor time",
        "Memory",
        "lag",
    ):
        assert re.search(f'aria-label="[^"]*{name}"', shown), name
    assert all(word in shown for word, _ in DEFINITIONS)


def test_the_verdict_comes_first_and_says_why(run: Account) -> None:
    box = run_page(run).split('<div class="verdict', 1)[1].split("</div>", 1)[0]
    assert "Missed: failed turns 5 %, at most 0.1 %." in box
    assert "Likely reason: The fault caused at 30 s (kill of replica-2) was felt: it answered again after 6 s." in box
    assert "(10 turns failed meanwhile, 0 were late)" in box


def test_what_else_was_missed_and_what_else_may_be_the_reason_is_said() -> None:
    reasons = tuple(Reason(cause=Cause.QUEUE, says=f"reason {number}.") for number in range(5))
    shown = judged(replace(GOOD, ttft=spread(2), e2e=spread(9)), explaining=reasons)
    assert "<p>Also missed: whole reply, p95 9 s, at most 8 s.</p>" in shown
    assert shown.count("Also missed") == 1
    assert "<p>Likely reason: reason 0.</p><p>Perhaps also: reason 1.</p><p>Perhaps also: reason 2.</p></div>" in shown
    assert "Nothing that was seen of the servers explains it" in judged(replace(GOOD, ttft=spread(2)))


def test_reasons_that_explain_few_of_the_late_turns_are_not_told_as_the_whole(run: Account) -> None:
    few = replace(run, explaining=(Reason(cause=Cause.QUEUE, says="Some queued.", share=0.02),))
    assert "<p>Most of the 10 turns that were late or failed had another reason.</p>" in run_page(few)
    assert "had another reason" not in run_page(run)


def test_a_void_run_says_what_spoiled_it_and_an_incomplete_one_why_it_ended() -> None:
    void = judged(replace(GOOD, client_lag=spread(1)))
    assert "<p>Because the client itself was late: p99 1000 ms, at most 50 ms; play again with" in void
    assert "<p>It ended before its time: Ctrl-C.</p>" in judged(GOOD, incomplete="Ctrl-C")


def test_what_was_not_judged_is_said_in_one_sentence() -> None:
    shown = judged(replace(GOOD, audited=0, bell_ttft=spread(0.5, 20)))
    assert "<p>Not judged: first text of first turns, p95 (80 more would do); turns lost from the record;" in shown


def test_a_run_that_passed_gives_no_reasons() -> None:
    assert "reason" not in judged(GOOD).split("</div>", 1)[0].split('<div class="verdict')[1]


def test_it_is_called_after_its_drill_and_says_that_replicas_were_simulated(run: Account) -> None:
    assert title(run) == "Load drill: class of 20 on simulated replicas"
    assert "the engines' times and memory follow a profile".replace("'", "&#x27;") in run_page(run)
    plain = account()
    stairs = replace(plain, seen=replace(plain.seen, drill=Drill(shape=Shape.STAIRCASE, stairs=(5, 40))))
    assert title(stairs) == "Load drill: staircase up to 40 trainees"
    assert "were simulated" not in run_page(stairs)


def test_nothing_measured_makes_a_page_too(tmp_path: Path) -> None:
    folder = a_run(tmp_path, rows=[])
    for file in (folder.replicas, folder.processes, folder.events, *folder.all_lag()):
        file.unlink()
    shown = run_page(account_of(folder))
    assert "Missed: turns played 0, at least 1" in shown
    assert "Likely reason: Not one turn was asked" in shown


def test_a_class_of_300_with_50_turns_stays_small(tmp_path: Path) -> None:
    shown = run_page(account_of(a_run(tmp_path, trainees=300, turns=50, replicas=10)))
    assert len(shown.encode()) < MEGABYTE
    assert "Each point stands for" in shown
