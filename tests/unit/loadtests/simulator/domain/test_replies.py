"""The model says the same to the same conversation, and what a script says where it says something."""

from itertools import pairwise

from loadtests.simulator.domain.replies import (
    Reply,
    Rule,
    Said,
    long_reply,
    repeated,
    reply_to,
    split_everywhere,
)

ENGLISH = [Said("system", "You are the buyer."), Said("user", "Hello?")]
CHINESE = [Said("system", "You are the buyer."), Said("user", "你好")]


def test_the_same_conversation_gets_the_same_reply() -> None:
    assert reply_to(ENGLISH, (), seed=1) == reply_to(list(ENGLISH), (), seed=1)


def test_seed_and_conversation_change_the_reply() -> None:
    others = [[*ENGLISH, Said("assistant", "Yes?"), Said("user", f"Number {n}?")] for n in range(10)]
    assert len({reply_to(other, (), seed=1).text for other in others}) > 5
    assert len({reply_to(ENGLISH, (), seed=seed).text for seed in range(10)}) > 5


def test_chinese_is_answered_in_chinese() -> None:
    reply = reply_to(CHINESE, (), seed=1).text
    assert reply.endswith(("。", "？"))
    assert " " not in reply


def test_nothing_said_is_answered_too() -> None:
    assert reply_to([], (), seed=1).text


def test_a_script_answers_turn_by_turn_and_its_last_reply_goes_on() -> None:
    rule = Rule((Reply("one"), Reply("two")))
    turns = [[Said("user", "?")] * n for n in (1, 2, 3)]
    assert [reply_to(turn, (rule,), seed=0).text for turn in turns] == ["one", "two", "two"]


def test_a_conversation_without_a_user_gets_the_first_reply() -> None:
    assert reply_to([Said("system", "go")], (Rule((Reply("one"), Reply("two"))),), seed=0).text == "one"


def test_the_first_rule_that_fits_answers() -> None:
    rules = (
        Rule((Reply("wrong scenario"),), system="the seller"),
        Rule((Reply("wrong words"),), system="the buyer", last="price"),
        Rule((Reply("right"),), system="the buyer", last="Hello"),
        Rule((Reply("too late"),)),
    )
    assert reply_to(ENGLISH, rules, seed=0).text == "right"
    assert reply_to([], rules, seed=0).text == "too late"


def test_phrases_are_cut_at_every_place() -> None:
    reply = split_everywhere(["abcd", "xy"])
    assert "".join(reply.pieces) == reply.text
    cuts = {(one, other) for one, other in pairwise(reply.pieces)}
    assert {("a", "bcd"), ("ab", "cd"), ("abc", "d"), ("x", "y")} <= cuts
    assert ("c", "d") in cuts


def test_a_reply_can_repeat_itself() -> None:
    assert repeated("no ", 3) == Reply("no no no ")


def test_a_reply_can_be_very_long() -> None:
    assert 5000 <= len(long_reply(0, characters=5000).text) < 5200
