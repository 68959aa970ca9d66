"""Lists as one thing to match with."""

from gateway.domain.moderation.phrase_book import Needle, PhraseBook
from gateway.domain.moderation.phrases import PhraseList, Spelling
from tests.support.phrase_lists import book, phrases


def test_every_rule_is_in_the_plain_index_with_its_weight() -> None:
    assert book("Buy now", "法轮", "加v").plain.needles == [Needle(0, 6), Needle(1, 2), Needle(2, 2)]


def test_leetspeak_costs_nothing_where_no_rule_asks_for_it() -> None:
    assert book("spam").leet.needles == []
    assert [needle.weight for needle in book("spam", spelling=Spelling.LEET).leet.needles] == [4]


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
    assert [needle.weight for needle in made.allowed.needles] == [12]


def test_a_book_of_no_lists_has_no_rules() -> None:
    assert (PhraseBook([]).rules, PhraseBook([]).plain.needles) == ((), [])
