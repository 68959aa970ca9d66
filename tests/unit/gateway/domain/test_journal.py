"""What is left out of a journal, and put back where it is known."""

from dataclasses import replace

from gateway.domain.journal import digested, heard, told
from sessions.domain.events import Cancelled, Done
from sessions.domain.turn import IdempotencyKey
from tests.support.records_world import turn


def test_the_words_of_people_are_not_told_and_the_reply_is_put_back() -> None:
    whole = turn(key="a-key")
    sent = told(Done(whole))
    assert sent == Done(replace(whole, text="", reply="", idempotency=None))
    assert heard(sent, whole.reply) == Done(replace(whole, text="", idempotency=None))


def test_other_ends_have_nothing_to_hide() -> None:
    assert told(Cancelled()) == heard(Cancelled(), "Hello") == Cancelled()


def test_a_key_is_known_again_by_its_digest_alone() -> None:
    key = IdempotencyKey("a-key", "content")
    digest = digested(key)
    assert digest is not None
    assert "a-key" not in digest.key
    assert digest == digested(IdempotencyKey("a-key", "content"))
    assert digest != digested(IdempotencyKey("other", "content"))
    assert digest.digest == "content"
    assert digested(None) is None
