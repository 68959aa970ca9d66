"""What a reviewer's decision makes of a list."""

from dataclasses import replace

import pytest

from gateway.domain.moderation.amendment import amended, amendment_fault, pardons
from gateway.domain.moderation.phrases import MOST_PHRASES, Phrase, PhraseList, Spelling
from sessions.domain.review import ChangeKind, ListChange
from tests.support.records_world import uuid_of

SAID = PhraseList("banned", 3, (Phrase("r1", "one", "test"), Phrase("r2", "two", "test")), ("one of us",))


def allow(text: str) -> ListChange:
    return ListChange(ChangeKind.ALLOW, uuid_of("list"), text)


def remove(rule: str) -> ListChange:
    return ListChange(ChangeKind.REMOVE_RULE, uuid_of("list"), rule)


def test_a_phrase_is_allowed_once() -> None:
    wider = amended(SAID, allow("two of us"))
    assert wider == replace(SAID, allowed=("one of us", "two of us"))
    assert amended(wider, allow("two of us")) is wider


def test_a_rule_is_removed_by_its_id() -> None:
    less = amended(SAID, remove("r1"))
    assert less == replace(SAID, phrases=SAID.phrases[1:])
    assert amended(less, remove("r1")) == less


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (allow("two of us"), None),
        (allow("one of us"), None),
        (allow("..."), "nothing is left"),
        (allow("x"), "single letter"),
        (allow("secret " * 30), "at most 128"),
        (remove("r2"), None),
        (remove("r3"), "no such rule"),
    ],
)
def test_what_cannot_be_done_is_told_without_the_words(change: ListChange, words: str | None) -> None:
    fault = amendment_fault(SAID, change)
    assert (fault is None) if words is None else (fault is not None and words in fault)
    assert "secret" not in (fault or "")


def test_a_full_list_takes_no_more() -> None:
    full = replace(SAID, allowed=("one of us",) * (MOST_PHRASES - 2))
    assert "at most 50000" in (amendment_fault(full, allow("two of us")) or "")


@pytest.mark.parametrize(
    ("allowed", "changes"),
    [
        ("sure win policy", True),
        ("we sure-win policy", True),
        ("sure win", False),
        ("S.u.r.e win", False),
        ("surely winning", False),
        ("something else", False),
        ("保本理财", True),
        ("保 本", False),
        ("fr33 lunch menu", True),
        ("free lunch", False),
        ("fr33 lunch", False),
        ("fa lun gong history", True),
        ("falungong", False),
    ],
)
def test_only_what_is_longer_than_a_phrase_in_it_pardons_it(allowed: str, *, changes: bool) -> None:
    said = PhraseList(
        "banned",
        1,
        (
            Phrase("1", "sure win", "test"),
            Phrase("2", "保本", "test"),
            Phrase("3", "free lunch", "test", spelling=Spelling.LEET),
            Phrase("4", "fa lun gong", "test", spelling=Spelling.PINYIN),
        ),
        allowed=("sure win policy",),
    )
    assert pardons(said, allowed) is changes
