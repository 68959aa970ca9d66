"""Every fault of a list is told with its place, and without the words."""

import pytest

from gateway.domain.moderation.fault_words import told
from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.phrases import Fault, Phrase, PhraseList, Reason, Spelling, faults


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_has_words(reason: Reason) -> None:
    (place, words), *others = told([Fault(reason, 17)])
    assert not others
    assert place == "phrases" if reason is Reason.TOO_MANY else place.startswith("phrases.17.")
    assert len(words) > 10


def test_the_places_are_those_of_the_list_and_the_words_are_not_told() -> None:
    found = PhraseList(
        "bad",
        1,
        (
            Phrase("a", "sesame", "test"),
            Phrase("a", "  ", ""),
            Phrase("b", "x", "test"),
            Phrase("c", "秘密", "test", spelling=Spelling.PINYIN),
        ),
        allowed=("fine", "!"),
    )
    listed = told(faults(found, Folding()))
    assert [place for place, _ in listed] == [
        "phrases.0.id",
        "phrases.1.id",
        "phrases.1.category",
        "phrases.1.text",
        "phrases.2.text",
        "phrases.3.text",
        "allowed.1",
    ]
    assert not any(word in str(listed) for word in ("sesame", "秘密"))
