"""Lists as one thing to match with."""

from gateway.domain.moderation.phrase_book import Needle, PhraseBook
from gateway.domain.moderation.phrases import PhraseList, Spelling
from tests.support.phrase_lists import book, phrases


def test_every_rule_is_in_the_plain_index_with_its_length_and_weight() -> None:
    assert book("Buy now", "法轮", "加v").plain.needles == [
        Needle(rule=0, length=9, weight=6, edged=True),
        Needle(rule=1, length=2, weight=2, edged=False),
        Needle(rule=2, length=4, weight=2, edged=False),
    ]


def test_only_what_can_be_spelt_out_is_looked_for_spelt_out() -> None:
    assert [needle.rule for needle in book("spam", "法轮", "a b c", "加v", "加vx", "x yz").spaced.needles] == [0, 4, 5]


def test_leetspeak_costs_nothing_where_no_rule_asks_for_it() -> None:
    assert book("spam").leet.needles == []
    assert [needle.length for needle in book("spam", spelling=Spelling.LEET).leet.needles] == [6]


def test_pinyin_has_all_its_forms_and_one_rule() -> None:
    found = book("fa lun gong", spelling=Spelling.PINYIN)
    assert [needle.rule for needle in found.plain.needles] == [0, 0, 0, 0]


def test_lists_are_put_together_with_what_they_allow() -> None:
    made = PhraseBook(
        [
            PhraseList("tenant", 1, phrases("spam"), ("spam fritters",)),
            PhraseList("scenario", 2, phrases("eggs"), ("",)),
        ]
    )
    assert [rule.phrase.id for rule in made.rules] == ["spam", "eggs"]
    assert [needle.length for needle in made.allowed.needles] == [15]


def test_a_book_of_no_lists_has_no_rules() -> None:
    assert (PhraseBook([]).rules, PhraseBook([]).plain.needles) == ((), [])
