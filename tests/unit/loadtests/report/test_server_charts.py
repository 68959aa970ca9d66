"""Charts of the servers, made of a run in which one replica was away."""

from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.domain.server import ProcessSample
from loadtests.report import server_charts
from loadtests.report.account import Account
from loadtests.report.run_reading import account_of
from tests.support.load_runs import a_run
from tests.unit.loadtests.report.test_account import account
from tests.unit.loadtests.report.test_lines import of_class, stretches
from tests.unit.loadtests.report.test_turn_charts import charts, rows


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Account:
    return account_of(a_run(tmp_path_factory.mktemp("runs") / "class"))


def test_each_replica_has_a_line_that_is_broken_while_it_was_away(run: Account) -> None:
    made = charts(server_charts.replica_charts(run))
    assert list(made) == [
        "KV memory in use",
        "Preemptions",
        "Requests at all replicas",
        "Requests waiting at each replica",
        "Sessions at each replica",
    ]
    first, second = [line for line in of_class(made["KV memory in use"], "line") if len(line.get("d", "")) > 40]
    assert [len(stretches(line)) for line in (first, second)] == [1, 2]
    (span,) = of_class(made["KV memory in use"], "span")
    gap = stretches(second)
    assert gap[0][-1][0] <= float(span.get("x", "")) < gap[1][0][0]


def test_lines_are_at_their_values(run: Account) -> None:
    told = rows(server_charts.replica_charts(run), "replica-1")
    assert told[0] == ["-0:10", "25 %", "50 %"]
    assert ["0:30", "25 %", "-"] in told


def test_all_replicas_together_are_their_sum(run: Account) -> None:
    told = {row[0]: row[1:] for row in rows(server_charts.replica_charts(run), "running")}
    assert told["-0:10"] == ["3", "0"]
    assert told["0:30"] == ["1", "0"]


def test_many_replicas_are_summed_up_and_it_is_said(tmp_path: Path) -> None:
    made = server_charts.replica_charts(account_of(a_run(tmp_path, replicas=10)))
    assert "There are 10 replicas" in made
    assert rows(made, "highest of 10")[0] == ["-0:10", "250 %", "138 %", "25 %"]


def test_processes_are_told_by_the_share_of_a_core_and_their_memory(run: Account) -> None:
    made = server_charts.process_charts(run)
    assert list(charts(made)) == ["Processor time", "Memory"]
    assert rows(made, "gateway")[0] == ["-0:09", "50 %", "10 %"]


def test_time_that_passes_faster_counts_in_real_seconds() -> None:
    plain = account()
    looks = [ProcessSample(at_s=at, name="gateway", cpu_s=at / 8, memory_mb=1) for at in (0, 0, 8, 16)]
    made = server_charts.process_charts(replace(plain, seen=replace(plain.seen, processes=looks)))
    assert [row[1] for row in rows(made, "gateway")] == ["50 %", "50 %"]


def test_where_nothing_was_looked_at_a_sentence_says_so() -> None:
    assert "No replica was looked at" in server_charts.replica_charts(account())
    assert "No process" in server_charts.process_charts(account())
