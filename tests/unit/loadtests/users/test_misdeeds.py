"""Each misdeed knows the answers that are right."""

from pathlib import Path

import pytest

from loadtests.domain.part import Act, Ask
from loadtests.domain.rows import Kind
from loadtests.users.misdeeds import Misdeed, chat_misdeeds, commit, failure_of, misdeeds
from tests.support.load_stage import place, rows_in, stage
from tests.support.scripted_http import Scripted, scripted_http, streamed, whole

DEED = Misdeed(name="bad", method="POST", path="/x", right=frozenset({404, 0}))


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (404, None),
        (0, None),
        (429, None),
        (503, None),
        (200, "let_in"),
        (202, "let_in"),
        (500, "http_500"),
        (401, "http_401"),
        (None, "timeout"),
    ],
)
def test_only_what_is_right_or_too_busy_to_look_has_refused(status: int | None, failure: str | None) -> None:
    assert failure_of(status, DEED) == failure


def test_a_connection_that_is_cut_is_no_answer_where_one_was_due() -> None:
    deed = Misdeed(name="bad", method="POST", path="/x", right=frozenset({404}))
    assert failure_of(0, deed) == "lost"


@pytest.mark.parametrize("deeds", [misdeeds("s1", "s2"), chat_misdeeds()])
def test_misdeeds_differ_and_none_but_the_deaf_may_be_let_in(deeds: tuple[Misdeed, ...]) -> None:
    assert len({deed.name for deed in deeds}) == len(deeds)
    assert all(deed.is_deaf or not deed.right & set(range(200, 300)) for deed in deeds)


def test_the_foreign_session_is_reached_for_with_the_own_key() -> None:
    foreign = [deed for deed in misdeeds("s1", "s2") if "s2" in deed.path]
    assert len(foreign) == 2
    assert not any("Authorization" in deed.headers for deed in foreign)


@pytest.mark.parametrize(
    ("answer", "status", "failure"),
    [(whole(404, {}), 404, None), (whole(200, {}), 200, "let_in"), (streamed(cuts=True), None, None)],
)
def test_a_misdeed_is_one_row(tmp_path: Path, answer: Scripted, status: int | None, failure: str | None) -> None:
    with scripted_http(answer) as server:
        here = stage(tmp_path, server.url)
        with here.caller(0) as caller:
            commit(here, caller, place(Ask(at_s=0.0, act=Act.HOSTILE, after=7)), (DEED,))
        here.book.close()
    (row,) = rows_in(tmp_path)
    assert (row.kind, row.status, row.failure, row.note) == (Kind.HOSTILE, status, failure, "bad")
