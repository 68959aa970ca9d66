"""How what a list says is stored."""

import json

from hypothesis import given
from hypothesis import strategies as st

from gateway.adapters.phrase_content import read, written
from gateway.domain.moderation.phrases import Action, Phrase, PhraseList, Severity, Spelling

WORDS = st.text(max_size=12)
PHRASES = st.builds(
    Phrase, WORDS, WORDS, WORDS, st.sampled_from(Severity), st.sampled_from(Action), st.sampled_from(Spelling)
)


@given(phrases=st.lists(PHRASES, max_size=4), allowed=st.lists(WORDS, max_size=3))
def test_whatever_is_written_is_read_again(phrases: list[Phrase], allowed: list[str]) -> None:
    said = PhraseList("banned", 3, tuple(phrases), tuple(allowed))
    assert read(written(said), name="banned", version=3) == said


def test_the_form_stays_for_good() -> None:
    """What stands in databases is read by every later version."""
    stored = json.dumps(
        {"phrases": [["r1", "保本高收益", "fraud", 3, "mask", "plain"]], "allowed": ["保本"]}, ensure_ascii=False
    )
    said = PhraseList("x", 1, (Phrase("r1", "保本高收益", "fraud", Severity.HIGH, Action.MASK),), ("保本",))
    assert read(stored, name="x", version=1) == said
    assert json.loads(written(said)) == json.loads(stored)
