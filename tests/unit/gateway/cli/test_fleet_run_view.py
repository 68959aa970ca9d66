"""A round as it is printed, for people and for programs."""

import json
from dataclasses import replace
from io import StringIO

from rich.console import Console

from gateway.cli.fleet_run_view import as_facts, deeds_table, headline
from router.domain.fleet import ReplicaId
from router.fleet.domain.demand import PoolName
from router.fleet.domain.pool_book import Round
from router.fleet.domain.scaling import Alert
from router.fleet.keeping import Deed, PoolReport

POOL = PoolName("m")
ROUND = Round(pool=POOL, at=0.0, leader="x", wanted=6, ready=4, present=5, wait="the pool may not have more replicas")
REPORT = PoolReport(
    POOL,
    leads=True,
    deeds=(Deed("start", ReplicaId("m-1"), "6 [wanted]", trouble="no place"),),
    round=ROUND,
    alert=Alert(bell=9.0, ready=4, needed=6),
    troubles=("the calendar cannot be read",),
)


def test_what_was_done_stands_below_how_the_pool_is() -> None:
    assert headline(REPORT) == (
        "m: 6 wanted, 4 ready, 5 present; the pool may not have more replicas; 4 of 6 replicas are ready; "
        "the calendar cannot be read"
    )
    out = StringIO()
    Console(file=out, width=160).print(deeds_table(REPORT), markup=False)
    assert all(word in out.getvalue() for word in ("start", "m-1", "6 [wanted]", "no place"))


def test_what_is_not_known_is_a_question_mark_and_never_nothing() -> None:
    assert "m: ? wanted, 4 ready" in headline(replace(REPORT, round=replace(ROUND, wanted=None)))
    assert as_facts(replace(REPORT, round=replace(ROUND, wanted=None)))["wanted"] is None


def test_a_round_that_was_none_says_why() -> None:
    assert "m: another process leads; nothing was done" in headline(PoolReport(POOL, leads=False))
    assert "m: nothing was done; no ledger" in headline(PoolReport(POOL, leads=True, troubles=("no ledger",)))


def test_programs_are_told_the_same() -> None:
    facts = json.loads(json.dumps(as_facts(REPORT)))
    assert (facts["wanted"], facts["short"], facts["leads"]) == (6, "4 of 6 replicas are ready", True)
    assert facts["deeds"] == [{"what": "start", "replica": "m-1", "reason": "6 [wanted]", "trouble": "no place"}]
    assert as_facts(PoolReport(POOL, leads=False))["ready"] is None
