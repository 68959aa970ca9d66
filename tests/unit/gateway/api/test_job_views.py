"""Jobs as callers see them."""

from dataclasses import replace
from uuid import UUID

from gateway.api.job_views import JobView, JobWithResultsView, ResultView
from sessions.domain.job import Answer, Item, ItemError, ItemState, JobState, LayerCount
from tests.support.jobs_fixture import job, questions
from tests.support.records_world import NOON


def test_the_questions_are_counted_and_the_layers_before_them_shown() -> None:
    layers = (LayerCount(1, 4, completed=4), LayerCount(2, 1), LayerCount(3, 5))
    seen = JobView.of(replace(job(), state=JobState.RUNNING, layers=layers, started_at=NOON))
    assert (seen.state, seen.total, seen.done, seen.progress) == ("running", 5, 0, 0.4)
    assert [(layer.layer, layer.completed, layer.total) for layer in seen.layers] == [(1, 4, 4), (2, 0, 1)]


def test_a_job_that_failed_says_why() -> None:
    ended = replace(
        job(), state=JobState.FAILED, error=ItemError("c", "m"), layers=(LayerCount(1, 2, completed=1, failed=1),)
    )
    seen = JobView.of(ended)
    assert seen.error is not None
    assert (seen.error.code, seen.failed) == ("c", 1)


def test_a_question_without_an_answer_shows_none() -> None:
    seen = ResultView.of(Item(questions(1)[0], ItemState.RUNNING, attempts=2))
    assert (seen.state, seen.attempts, seen.answer, seen.model, seen.citations) == ("running", 2, None, None, ())
    assert not seen.fell_back


def test_a_page_tells_whether_there_is_another() -> None:
    asked = replace(job(), layers=(LayerCount(1, 3),))
    items = [Item(plan, ItemState.COMPLETED, answer=Answer("So.", "stop", "m", "faq")) for plan in questions(3)]
    first = JobWithResultsView.with_results(asked, items, limit=2)
    assert ([result.number for result in first.results], first.next_cursor is not None) == ([1, 2], True)
    last = JobWithResultsView.with_results(asked, items[2:], limit=2)
    assert ([result.number for result in last.results], last.next_cursor) == ([3], None)
    assert isinstance(last.id, UUID)
