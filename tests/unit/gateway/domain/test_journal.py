"""What is left out of a journal, and put back where it is known."""

from dataclasses import replace

from gateway.domain.journal import digested, heard, told
from sessions.domain.events import Cancelled, Done
from sessions.domain.moderation import Action, Direction, Judgement, Mark, Source
from sessions.domain.turn import IdempotencyKey
from tests.support.records_world import turn


def test_masked_words_are_told_since_who_asks_again_does_not_know_them() -> None:
    mark = Mark(Direction.INPUT, Source.PHRASE, "r1", "c", 3, Action.MASK)
    masked = replace(turn(), text="call ***", moderation=Judgement((mark,)))
    assert told(Done(masked)) == Done(replace(masked, reply=""))


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
