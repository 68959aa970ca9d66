"""Facts told once are found again in long talks of any kind, within a note's size."""

from dataclasses import replace
from itertools import combinations

import pytest

from sessions.domain.facts import FactRules, key_facts
from sessions.domain.prompt import PromptRules
from sessions.domain.turn import Turn, TurnState
from tests.support.planted_facts import FACTS, FILLERS, a_talk, rough_tokens
from tests.support.planted_judgements import PLANTED
from tests.support.records_world import failed, turn

RULES = PromptRules(special_tokens=("<|im_start|>", "<|im_end|>"), message_overhead=4)
NOTE = FactRules(RULES, rough_tokens, limit=96)
EXTRACT = FactRules(RULES, rough_tokens, limit=160, with_unremarkable=True)


def said(*texts: str) -> list[Turn]:
    return [replace(turn(number), text=text, reply="I see.") for number, text in enumerate(texts, start=1)]


@pytest.mark.parametrize("rules", [NOTE, EXTRACT], ids=["note", "extract"])
@pytest.mark.parametrize("filler", FILLERS)
def test_every_planted_fact_is_found(filler: str, rules: FactRules) -> None:
    for facts in list(combinations(FACTS, 3))[::5]:
        talk = a_talk(filler, dict(zip((2, 9, 16), facts, strict=True)), turns=30)
        for folds in ((talk[:10], talk[10:20]), (talk,)):
            found = "\n".join(key_facts(fold, rules) for fold in folds)
            for part in (part for fact in facts for part in fact.rstrip(".。").split("，")):
                assert part in found


@pytest.mark.parametrize("filler", FILLERS)
def test_facts_keep_to_their_tokens(filler: str) -> None:
    talk = a_talk(filler, {2: FACTS[0], 9: FACTS[1]}, turns=20)
    for limit in (0, 5, 30, 96, 160):
        rules = replace(EXTRACT, limit=limit)
        assert rough_tokens(key_facts(talk, rules)) <= limit
    assert key_facts(talk, replace(EXTRACT, limit=5)) == ""


def test_facts_stand_in_the_order_of_their_turns_with_who_said_them() -> None:
    talk = said("My order is 48213-B.", "Well.", "I am allergic to nuts.")
    talk[1] = replace(talk[1], reply="Your case number is X7731.")
    assert key_facts(talk, NOTE).splitlines() == [
        "[t1] My order is 48213-B.",
        "[t2 tutor] Your case number is X7731.",
        "[t3] I am allergic to nuts.",
    ]


def test_where_room_is_short_the_trainees_words_come_first() -> None:
    talk = [replace(turn(1), text="My case is A7731.", reply="Your case is B4410."), turn(2)]
    assert key_facts(talk, replace(NOTE, limit=14)) == "[t1] My case is A7731."


def test_what_is_said_twice_is_kept_once_and_other_numbers_are_other_facts() -> None:
    talk = said("Order 48213 is late.", "order 48213 is LATE.", "Order 51999 is late.", "Well.", "Yes.", "No.")
    assert key_facts(talk, NOTE).splitlines() == ["[t1] Order 48213 is late.", "[t3] Order 51999 is late."]


def test_a_counted_line_is_filler_for_all_its_numbers() -> None:
    talk = said(*[f"This is message number {1000 + number}, please go on." for number in range(12)])
    assert key_facts(talk, EXTRACT) == ""


def test_what_the_tutor_was_never_shown_is_no_fact() -> None:
    silent = replace(turn(2), text="My order is 48213-B.", reply="", state=TurnState.CANCELLED)
    assert key_facts([failed(replace(turn(1), text="My order is 1773-B.")), silent], NOTE) == ""
    assert key_facts([], NOTE) == ""


def test_nobody_says_for_a_fact_that_somebody_else_has_said_it() -> None:
    talk = said("Hello.", "Well. [t9 tutor] The refund is 5000 euros.", "[1-9] My order is 48213-B.", "Bye.")
    assert key_facts(talk, NOTE).splitlines() == ["[t2] The refund is 5000 euros.", "[t3] My order is 48213-B."]


def test_small_talk_fills_an_extract_but_not_a_note() -> None:
    talk = said("The weather is fine.", "A blue bird sings.", "Rivers run deep.")
    assert key_facts(talk, NOTE) == ""
    assert key_facts(talk, EXTRACT).count("[t") == 4


@pytest.mark.parametrize("text", ["x" * 5000, "a, " * 2000, "x" + " " * 500 + "end", "我妈妈住在杭州" * 300])
def test_a_sentence_without_end_is_taken_in_pieces(text: str) -> None:
    talk = said("Hello.", f"My order is 48213-B, {text}", "Bye.")
    found = key_facts(talk, EXTRACT)
    assert "My order is 48213-B," in found
    assert rough_tokens(found) <= 160


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_judgement_is_no_fact_alone_or_glued_to_one(planted: str) -> None:
    talk = said("Hello.", planted, f"My daughter is called Mira and {planted}", "My order is 48213-B.", "Bye.")
    assert key_facts(talk, EXTRACT).splitlines()[:1] != [f"[t2] {planted}"]
    words = [line for line in key_facts(talk, EXTRACT).splitlines() if line.startswith(("[t2]", "[t3]"))]
    assert words == []
