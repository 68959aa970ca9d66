"""What becomes of an item, and how far a job is."""

from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from sessions.domain.citation import KnowledgeBaseId
from sessions.domain.job import (
    Again,
    Answer,
    Answered,
    Claim,
    Doomed,
    Ended,
    GivenBack,
    Item,
    ItemError,
    ItemKind,
    ItemPlan,
    ItemState,
    JobId,
    JobState,
    LayerCount,
    Outcome,
    Place,
    Refused,
    RetryRule,
    Troubled,
    WorkerId,
    counted,
    recounted,
    verdict,
)
from tests.support.jobs_fixture import job, questions, summaries
from tests.support.records_world import HERE, NOON

RULE = RetryRule(attempts=3, pause_s=2.0)
ERROR = ItemError("code", "message")
ANSWER = Answer("So.", "stop")
PLACE = Place(JobId(uuid4()), 1, 1)
CLAIM = Claim(
    place=PLACE,
    tenant=HERE.tenant,
    base=KnowledgeBaseId(uuid4()),
    document=None,
    asked_by=HERE.instructor,
    plan=questions(1)[0],
    attempt=1,
    owner=WorkerId("anne"),
    until=NOON,
)
SUMMARY = replace(CLAIM, plan=summaries(1)[0])


def after(seconds: float, *, counts: bool) -> Again:
    return Again(NOON + timedelta(seconds=seconds), counts=counts)


@pytest.mark.parametrize(
    ("claim", "outcome", "expected"),
    [
        (CLAIM, Answered(ANSWER), Ended(answer=ANSWER)),
        (CLAIM, Refused(ERROR), Ended(error=ERROR)),
        (CLAIM, Doomed(ERROR), Ended(error=ERROR, ends_job=True)),
        (CLAIM, GivenBack(5.0), after(5, counts=False)),
        (CLAIM, Troubled(ERROR), after(2, counts=True)),
        (replace(CLAIM, attempt=2), Troubled(ERROR), after(4, counts=True)),
        (replace(CLAIM, attempt=3), Troubled(ERROR), Ended(error=ERROR)),
        (SUMMARY, Troubled(ERROR), after(2, counts=True)),
        (replace(SUMMARY, attempt=3), Troubled(ERROR), Ended(error=ERROR, ends_job=True)),
        (SUMMARY, Refused(ERROR), Ended(error=ERROR, ends_job=True)),
        (SUMMARY, Answered(ANSWER), Ended(answer=ANSWER)),
    ],
)
def test_what_is_written_of_an_outcome(claim: Claim, outcome: Outcome, expected: Again | Ended) -> None:
    assert verdict(outcome, claim, RULE, at=NOON) == expected


def test_layers_are_counted_by_number() -> None:
    plans = [*questions(3, layer=2), *summaries(2)]
    assert counted(plans) == (LayerCount(1, 2), LayerCount(2, 3))
    assert counted([]) == ()


def test_layers_are_counted_again_from_the_items() -> None:
    states = (ItemState.COMPLETED, ItemState.FAILED, ItemState.CANCELLED, ItemState.RUNNING, ItemState.QUEUED)
    items = [Item(ItemPlan(2, number, ItemKind.QUESTION), state) for number, state in enumerate(states, start=1)]
    done = Item(ItemPlan(1, 1, ItemKind.SUMMARY), ItemState.COMPLETED)
    layers = recounted([*items, done])
    assert layers == (LayerCount(1, 1, completed=1), LayerCount(2, 5, completed=1, failed=1, cancelled=1))
    half_way = replace(job(), layers=layers)
    assert half_way.questions == layers[1]
    assert half_way.progress == pytest.approx(4 / 6)


def test_a_job_is_over_when_it_neither_waits_nor_runs() -> None:
    assert [state for state in JobState if not state.is_over] == [JobState.QUEUED, JobState.RUNNING]
    assert [state for state in ItemState if state.is_open] == [ItemState.QUEUED, ItemState.RUNNING]
