"""Every phrase, however it is written and however the text is cut: the same verdict, and nothing of it leaves.

A sample of the cuts; all of them, in all surroundings: `EVASIONS=all python -m pytest --timeout 3600 <this file>`.
"""

import os
from collections.abc import Iterator

import pytest

from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.normalise import normalise
from gateway.domain.moderation.phrases import Action
from gateway.domain.moderation.release import ReleaseFilter, moderate
from tests.support.evasions import cuts, evaded
from tests.support.phrase_lists import BANNED, INNOCENT, book

ALL = os.environ.get("EVASIONS") == "all"
FOLDING = Folding()


def surroundings(number: int) -> Iterator[tuple[str, str]]:
    """What stands before and behind; a sample: another one for each number."""
    every = [(before, behind) for before in INNOCENT for behind in INNOCENT]
    yield from every if ALL else [every[number % len(every)]]


def sampled(text: str) -> Iterator[list[str]]:
    every = list(cuts(text))
    yield from every if ALL else (every[0], every[1], every[len(every) // 2], every[len(every) // 3])


def written(phrase: str) -> Iterator[tuple[str, str, str]]:
    """Before, the phrase in each way, and behind."""
    for number, (_, form) in enumerate(evaded(phrase)):
        for before, behind in surroundings(number * 7):
            yield before and before + " ", form, behind and " " + behind


@pytest.mark.parametrize("phrase", BANNED)
def test_a_blocked_phrase_never_leaves(phrase: str) -> None:
    rules = book(*BANNED)
    for before, form, behind in written(phrase):
        for cut in sampled(before + form + behind):
            release = ReleaseFilter(rules)
            left = "".join(release.feed(piece).text for piece in cut) + release.finish().text
            assert release.blocked is not None, (form, cut)
            assert release.blocked.rule == phrase
            assert left.startswith(before), (form, cut)
            assert not normalise(left.removeprefix(before), FOLDING).text, (form, cut)


@pytest.mark.parametrize("phrase", BANNED)
def test_of_a_masked_phrase_a_mask_leaves(phrase: str) -> None:
    rules = book(*BANNED, action=Action.MASK)
    for before, form, behind in written(phrase):
        whole = moderate(before + form + behind, rules)
        assert normalise(whole.text, FOLDING).text == normalise(f"{before}***{behind}", FOLDING).text, form
        assert [found.rule for found in whole.findings] == [phrase]
        for cut in sampled(before + form + behind):
            release = ReleaseFilter(rules)
            assert "".join(release.feed(piece).text for piece in cut) + release.finish().text == whole.text, cut


@pytest.mark.parametrize("before", INNOCENT)
def test_innocent_texts_leave_whole(before: str) -> None:
    rules = book(*BANNED)
    for behind in INNOCENT:
        assert moderate(before + behind, rules).text == before + behind


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("ass", "The class will pass an assessment; assets, bass, Hassan."),
        ("cunt", "Scunthorpe"),
        ("sex", "Essex and Middlesex; sexagesimal"),
        ("tit", "The Titanic, a title, a constitution."),
        ("cum", "This document accumulates circumstances; cumin."),
        ("spam", "his pamphlet, a spammer's span am"),
        ("av", "I have a view of a van. Java, a very"),
        ("rape", "grapes, therapeutic, drapes"),
        ("法轮", "法国的车轮，司法和轮船"),
        ("操", "体育课"),
        ("加vx", "加 vxx，加速 vx 系列"),
        ("法a轮", "法 轮 法b轮 法aa轮"),
        ("hell", "He'll go, she’ll stay, he`ll see; hel lo, hel- l"),
        ("shed", "She'd rather; she, d'accord"),
        ("520", "5.20, 5,20, 15.20, 5:20, 05/20"),
        ("1989", "198-9, 19.89, +49 198 9"),
        ("spam", "sp am, sp -am, sp- am, spa m, s pam, sp\nam, sp/法/am"),
        ("expert", "ex pert, ex, pert"),
        ("法轮", "法x轮，法1轮，法の轮"),
        ("us", "法🇺🇸轮"),
        ("バカ", "ハカ"),
        ("바", "발 반"),
    ],
)
def test_words_that_only_hold_a_phrase_are_innocent(phrase: str, text: str) -> None:
    verdict = moderate(text, book(phrase))
    assert (verdict.text, verdict.findings) == (text, ())
