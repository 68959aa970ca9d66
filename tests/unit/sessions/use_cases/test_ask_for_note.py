"""What is asked beside turns: in the session's name, for its replica, and not for ever."""

import asyncio
from dataclasses import replace

import pytest

from sessions.domain.history import History
from sessions.domain.tiers import Chosen, Tier
from sessions.errors import TutorBroke
from sessions.ports import Asker, TutorRequest
from sessions.use_cases.ask_for_note import NoteAsking, background_request
from sessions.use_cases.served_models import Serving
from sessions.use_cases.session_histories import Known
from tests.support.session_fakes import SHARES, FakeTutor, a_session, broken, content, writer

SESSION = replace(a_session(), turn_count=30)


def request() -> TutorRequest:
    written = writer().prefix(SESSION, content(), History())
    known = Known(SESSION, content(), History(last_replica="replica-1"))
    return background_request(known, Serving(Chosen(Tier.ROLE_PLAY, "fake"), writer()), written, "note")


def test_it_is_asked_in_the_name_of_the_last_turn() -> None:
    asked = request()
    assert (asked.session, asked.tenant, asked.turn, asked.name) == (SESSION.id, SESSION.tenant, 30, "note")
    assert (asked.is_background, asked.model, asked.last_replica, asked.max_tokens) == (True, "fake", "replica-1", 1)
    assert asked.asker == Asker(SESSION.scenario, 1, SESSION.trainee, SHARES.window)
    assert asked.messages == writer().prefix(SESSION, content(), History()).prompt.messages


async def test_all_that_is_written_comes_back_as_one_text() -> None:
    asking = NoteAsking(tutor=FakeTutor(aside=("They ", "talked", ".")), timeout_s=5)
    assert await asking.text(request()) == "They talked."


async def test_half_a_sentence_where_it_was_cut_is_left_out() -> None:
    cut = FakeTutor(aside=("He pays. ", "He will not"), aside_ends_by="length")
    assert await NoteAsking(tutor=cut, timeout_s=5).text(request()) == "He pays."
    whole = FakeTutor(aside=("He pays. ", "He will not"))
    assert await NoteAsking(tutor=whole, timeout_s=5).text(request()) == "He pays. He will not"


async def test_a_reply_that_breaks_is_no_text() -> None:
    asking = NoteAsking(tutor=FakeTutor(aside=("They ", broken())), timeout_s=5)
    with pytest.raises(TutorBroke):
        await asking.text(request())


async def test_one_that_takes_too_long_is_cut_off_down_to_the_engine() -> None:
    tutor = FakeTutor(aside=("They ", asyncio.Event()))
    with pytest.raises(TimeoutError):
        await NoteAsking(tutor=tutor, timeout_s=0.01).text(request())
    assert tutor.open_replies == 0


async def test_warming_and_forgetting_go_to_the_tutor() -> None:
    tutor = FakeTutor()
    await NoteAsking(tutor=tutor, timeout_s=5).forget(SESSION.id)
    assert tutor.forgotten == [SESSION.id]
    await NoteAsking(tutor=tutor, timeout_s=5).warm(request())
    assert [one.messages for one in tutor.warmed] == [request().messages]
