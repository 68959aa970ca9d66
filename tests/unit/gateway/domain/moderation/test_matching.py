"""What is found, against a search for each phrase in the whole text that was read."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.moderation.folding import EDGE, Kind
from gateway.domain.moderation.held_text import HeldText
from gateway.domain.moderation.matching import Matcher
from gateway.domain.moderation.normalise import Normaliser
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import Spelling
from gateway.domain.moderation.readings import Hit
from tests.support.phrase_lists import book
from tests.support.strange_texts import PIECES

# Phrases that share beginnings and ends, and pieces of them between other things.
GAP = "~"
PHRASES = ("ab", "ab c", "b", "法轮", "轮", "法轮法轮", "轮ab", "ab轮", "か", "가", "abc")
MATTER = ("a", "b", "c", "ab", " ", ".", "法", "轮", "輪", "か", "\u3099", "가", "\u11a8", "\u200b", "\u0301", "А", "4")
pieces = st.lists(st.sampled_from(MATTER) | st.sampled_from(PIECES), max_size=16).map("".join)
texts = pieces.filter(lambda text: not re.search(r"\\[bfnrtu]", text))
"""Without escapes, which are read in two ways."""


def found(text: str, rules: PhraseBook) -> list[Hit]:
    held = HeldText()
    held.add(text)
    matcher = Matcher(rules, held)
    hits = [hit for at, raw in enumerate(text) for hit in matcher.take(raw, at)]
    return [*hits, *matcher.finish(len(text))]


def with_gaps(text: str, rules: PhraseBook) -> tuple[str, list[tuple[int, int]]]:
    """As it is read, with another sign for edges that may be nothing, and the raw place of each character."""
    normaliser = Normaliser(rules.folding)
    symbols = [symbol for at, raw in enumerate(text) for symbol in normaliser.take(raw, at)]
    symbols += normaliser.finish(len(text))
    kinds = "".join({Kind.NOISE: EDGE, Kind.LETTER: "l", Kind.RESUMED: "r"}.get(kind, "i") for _, kind, _, _ in symbols)
    read = [char for char, _, _, _ in symbols]
    for match in re.finditer("(?<=[lr]) (?=[lr])", kinds):
        gap = match.start()
        resumes = kinds[gap + 1] == "r" and not (read[gap - 1].isdigit() and read[gap + 1].isdigit())
        if resumes or (re.search("(^|[ i])[lr]$", kinds[:gap]) and re.match("[lr]( |$)", kinds[gap + 1 :])):
            read[gap] = GAP
    return "".join(read), [(start, end) for _, _, start, end in symbols]


def sought(text: str, rules: PhraseBook) -> set[tuple[int, int, int]]:
    """Each phrase at each place, with any gap as an edge or as nothing."""
    read, spans = with_gaps(text, rules)
    places = set[tuple[int, int, int]]()
    for number, rule in enumerate(rules.rules):
        signs = [f"[{EDGE}{GAP}]" if char == EDGE else re.escape(char) for char in rule.read]
        pattern = "".join(
            one + ("" if EDGE in {one[1:2], other[1:2]} else f"{GAP}?") for one, other in pairwise([*signs, ""])
        )
        for match in re.finditer(f"(?=({pattern}))", read):
            start = match.start() + rule.read.startswith(EDGE)
            places.add((spans[start][0], spans[match.end(1) - 1][1], number))
    return places


@given(texts)
def test_all_phrases_are_found_at_all_their_places_and_once(text: str) -> None:
    rules = book(*PHRASES)
    assert sorted((hit.start, hit.end, hit.rule) for hit in found(text, rules)) == sorted(sought(text, rules))


@given(st.lists(st.sampled_from(("a", "b", "ab", " ", "-", "'", "轮", "1", "12")), max_size=24).map("".join))
def test_all_phrases_are_found_over_all_gaps(text: str) -> None:
    rules = book(
        "ab", "a b", "ab ab", "aab", "b ba", "abab", "a", "bb aa", "轮ab", "ab轮", "a1", "11", "12 1", "ab12", "ab1a"
    )
    assert sorted((hit.start, hit.end, hit.rule) for hit in found(text, rules)) == sorted(sought(text, rules))


@pytest.mark.parametrize(
    ("text", "found_at"),
    [
        ("fr33 m0ney", [(0, 10)]),
        ("$pam", [(0, 4)]),
        ("sp4m!!", [(0, 4)]),
        ("k!ll", [(0, 4)]),
        ("K!LL'", [(0, 4)]),
        ("ki1l", [(0, 4)]),
        ("sp4mm", []),
        ("spam", [(0, 4)]),
        ("5047", []),
        ("x$pam", []),
        ("mp3", [(0, 3)]),
    ],
)
def test_figures_and_signs_are_letters_in_whole_words_where_a_rule_asks_for_it(
    text: str, found_at: list[tuple[int, int]]
) -> None:
    rules = book("free money", "spam", "kill", "soat", "mp3", spelling=Spelling.LEET)
    assert [(hit.start, hit.end) for hit in found(text, rules)] == found_at
    assert not found("fr33 m0ney", book("free money"))


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("fǎ lún gōng", True),
        ("FALUNGONG", True),
        ("fa-lun gong", True),
        ("falun.gong", True),
        ("f a l u n g o n g", True),
        ("fa3lun2gong1", True),
        ("Fa3 lun2 gong1!", True),
        ("fǎ lun2-gong", True),
        ("f3a l2un gong", True),
        ("fal-ungong", True),
        ("fa6lun gong", False),
        ("falungongs3", False),
        ("3 1 2", False),
        ("falungongs", False),
        ("fa lun", False),
        ("alpha lun gong", False),
    ],
)
def test_pinyin_is_found_in_whole_words(text: str, *, is_found: bool) -> None:
    assert len(found(text, book("fa lun gong", spelling=Spelling.PINYIN))) == int(is_found)


@pytest.mark.parametrize(
    ("text", "undecided"),
    [
        ("", None),
        ("法轮功", None),
        ("x spa", 2),
        ("x s.p", 2),
        ("x 5p4", 2),
        ("x か", 2),
        ("か spam", 2),
        ("spam か", 0),
    ],
)
def test_it_knows_from_where_on_it_cannot_tell(text: str, undecided: int | None) -> None:
    held = HeldText()
    held.add(text)
    matcher = Matcher(book("spam eggs", spelling=Spelling.LEET), held)
    for at, raw in enumerate(text):
        matcher.take(raw, at)
    assert matcher.undecided() == undecided


def test_a_longer_allowed_phrase_pardons_and_an_equal_one_does_not() -> None:
    held = HeldText()
    held.add("法轮功夫")
    matcher = Matcher(book("法轮", "功夫", "轮功", allowed=("法轮功", "功夫", "夫法轮")), held)
    first, second = matcher.take("法", 0), matcher.take("轮", 1)
    assert not first
    (hit,) = second
    assert (matcher.is_pardoned(hit), matcher.may_be_pardoned(hit)) == (False, True)
    (other,) = matcher.take("功", 2)
    assert matcher.is_pardoned(hit)
    assert matcher.is_pardoned(other)
    matcher.forget(3)
    (last,) = matcher.take("夫", 3)
    assert (matcher.is_pardoned(last), matcher.may_be_pardoned(last)) == (False, False)


def test_a_pardon_is_kept_as_long_as_something_may_be_found_in_it() -> None:
    matcher = Matcher(book("轮", allowed=("法轮",)), HeldText())
    matcher.take("法", 0)
    (hit,) = matcher.take("轮", 1)
    matcher.forget(1)
    assert matcher.is_pardoned(hit)
    matcher.forget(2)
    assert not matcher.is_pardoned(hit)


def test_nothing_is_pardoned_where_nothing_is_allowed() -> None:
    matcher = Matcher(book("法"), HeldText())
    (hit,) = matcher.take("法", 0)
    matcher.forget(1)
    assert (matcher.is_pardoned(hit), matcher.may_be_pardoned(hit)) == (False, False)
