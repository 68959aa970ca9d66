"""`drillyard answers` against the API over real HTTP, with somebody who answers."""

import asyncio
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.cli.answers import progress_line
from gateway.cli.answers_wire import JobView, LayerView
from sessions.domain.job import Answer, Claim, Ended, ItemError, WorkerId
from sessions.domain.knowledge import KnowledgeBase
from sessions.domain.viewer import TenantId
from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command
from tests.integration.cli.conftest import Ended as CommandEnded
from tests.support.session_fakes import START
from tests.support.shelved import shelved

Settle = Callable[[Claim], Ended]


@pytest.fixture
def answers(drillyard: Command, api: Running) -> Command:
    def run(*words: str) -> CommandEnded:
        return drillyard("answers", *words, "--base-url", api.house.base_url, "--key", api.instructor_key)

    return run


@pytest.fixture
def base(api: Running) -> KnowledgeBase:
    made = shelved(api.house.shelf, TenantId(api.house.here.tenant), *["word " * 60] * 3)
    return asyncio.run_coroutine_threadsafe(made, api.loop).result(30)[0]


@pytest.fixture
def faq(tmp_path: Path) -> str:
    path = tmp_path / "faq.txt"
    path.write_text("Are returns free?\n\n  退货要钱吗? \n", encoding="utf-8-sig")
    return str(path)


def answered(claim: Claim) -> Ended:
    return Ended(answer=Answer(f"About {claim.plan.text}", "stop", "fake", "faq"))


def work(api: Running, settle: Settle = answered, *, items: int = 2) -> None:
    """Somebody who answers so many items as soon as they are asked."""

    async def run() -> None:
        left, jobs = items, api.house.jobs
        while left:
            claim = await jobs.claim(
                WorkerId("w"), at=START.replace(year=2030), until=START.replace(year=2031), running=9
            )
            if claim is None:
                await asyncio.sleep(0.01)
                continue
            await jobs.settle(claim, settle(claim), at=START)
            left -= 1

    asyncio.run_coroutine_threadsafe(run(), api.loop)


def test_answers_come_in_the_order_of_the_questions(
    answers: Command, api: Running, base: KnowledgeBase, faq: str
) -> None:
    work(api)
    ended = answers(base.name, "--questions", faq)
    assert ended.code == 0, ended
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [line["question"] for line in lines] == ["Are returns free?", "退货要钱吗?"]
    assert [line["answer"] for line in lines] == ["About Are returns free?", "About 退货要钱吗?"]
    assert [(line["state"], line["error"], line["citations"]) for line in lines] == [("completed", None, [])] * 2
    assert ended.err.splitlines()[0].startswith("job ")
    assert ended.err.splitlines()[-1] == "completed: 2 of 2 answered"


def typed(monkeypatch: pytest.MonkeyPatch, questions: bytes) -> None:
    # As where a terminal's encoding is none that could hold the questions.
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(questions), encoding="ascii"))


def test_questions_may_come_from_standard_input(
    answers: Command, api: Running, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    work(api)
    typed(monkeypatch, "\ufeffAre returns free?\r\n\n  退货要钱吗?".encode())
    ended = answers(base.name, "--questions", "-")
    assert ended.code == 0, ended
    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [line["question"] for line in lines] == ["Are returns free?", "退货要钱吗?"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (b" \n", "there is no question in standard input"),
        (b"\xff\xfe", "the questions in standard input cannot be read"),
    ],
)
def test_standard_input_without_questions_is_said(
    answers: Command, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, given: bytes, told: str
) -> None:
    typed(monkeypatch, given)
    ended = answers(base.name, "--questions", "-")
    assert (ended.code, told in ended.err) == (1, True), ended


def test_a_question_without_an_answer_makes_it_fail_and_is_in_the_file(
    answers: Command, api: Running, base: KnowledgeBase, faq: str, tmp_path: Path
) -> None:
    def settle(claim: Claim) -> Ended:
        return answered(claim) if claim.place.number == 1 else Ended(error=ItemError("tutor_broke", "it broke"))

    work(api, settle)
    out = tmp_path / "answers.jsonl"
    ended = answers(str(base.id), "--questions", faq, "--out", str(out))
    assert (ended.code, ended.out) == (1, "")
    assert "1 of 2 questions were not answered" in ended.err
    assert "completed: 1 of 2 answered, 1 failed" in ended.err
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert lines[1]["error"] == {"code": "tutor_broke", "message": "it broke"}


def test_a_job_that_was_begun_before_is_looked_at_again(
    answers: Command, api: Running, base: KnowledgeBase, faq: str
) -> None:
    work(api)
    job = answers(base.name, "--questions", faq).err.splitlines()[0].removeprefix("job ")
    again = answers("--job", job)
    assert again.code == 0
    assert len(again.out.splitlines()) == 2


def test_one_document_is_named_as_it_is_listed(answers: Command, api: Running, base: KnowledgeBase, faq: str) -> None:
    work(api, items=6)
    ended = answers(base.name, "--questions", faq, "--document", "Returns")
    assert ended.code == 0, ended
    assert "layer 1: " in ended.err
    missing = answers(base.name, "--questions", faq, "--document", "Prices")
    assert (missing.code, "no document 'Prices'" in missing.err) == (1, True)


def test_a_job_that_cannot_go_on_says_why(answers: Command, api: Running, base: KnowledgeBase, faq: str) -> None:
    gone = ItemError("knowledge_base_not_found", "the knowledge base was deleted")
    work(api, lambda _: Ended(error=gone, ends_job=True), items=1)
    ended = answers(base.name, "--questions", faq)
    assert ended.code == 1
    assert "2 of 2 questions were not answered (the knowledge base was deleted)" in ended.err


def test_what_cannot_be_asked_is_said_before_anything_is_sent(
    answers: Command, base: KnowledgeBase, faq: str, tmp_path: Path
) -> None:
    empty, strange = tmp_path / "empty.txt", tmp_path / "strange.txt"
    empty.write_text("\n \n")
    strange.write_bytes(b"\xff\xfe\xfa")
    for words, told in (
        ((base.name,), "give a base and --questions"),
        (("--questions", faq), "give a base and --questions"),
        ((base.name, "--questions", faq, "--job", "x"), "give a base and --questions"),
        ((base.name, "--questions", str(empty)), "no question"),
        ((base.name, "--questions", str(strange)), "cannot be read"),
        ((base.name, "--questions", str(tmp_path / "none.txt")), "cannot be read"),
        (("none", "--questions", faq), "no knowledge base 'none'"),
        (("--job", "x"), "job_not_found"),
        ((base.name, "--questions", faq, "--out", str(tmp_path / "no" / "file")), "there is no folder"),
    ):
        ended = answers(*words)
        assert (ended.code, told in ended.err) == (1, True), (words, ended)


def test_a_file_that_cannot_be_written_names_the_way_back(
    answers: Command, api: Running, base: KnowledgeBase, faq: str, tmp_path: Path
) -> None:
    work(api)
    ended = answers(base.name, "--questions", faq, "--out", str(tmp_path))
    assert (ended.code, "look at the job with --job" in ended.err) == (1, True)


def test_progress_shows_layers_until_they_are_done() -> None:
    layers = (LayerView(layer=1, total=3, completed=3), LayerView(layer=2, total=1, completed=0))
    job = JobView(id="j", state="running", total=9, done=0, failed=0, cancelled=1, layers=layers)
    assert progress_line(job) == "running: layer 2: 0 of 1 summaries, 0 of 9 answered, 1 cancelled"


def test_help_shows_an_example(drillyard: Command) -> None:
    shown = drillyard("answers", "--help")
    assert shown.code == 0
    assert "drillyard answers products --questions" in shown.out
