"""The settings of sessions: what could never work is refused with the setting's name."""

import pytest
from pydantic import ValidationError

from sessions.settings import DocumentSettings, SessionSettings


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_bytes": 0},
        {"max_characters": 10},
        {"max_pages": 0},
        {"read_limit_s": 0},
        {"at_once": 0},
        {"chunk_tokens": 1},
        {"overlap_tokens": -1},
        {"base_chunks": 0},
        {"max_megabytes": 1},
    ],
)
def test_a_senseless_value_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValidationError, match=next(iter(wrong))):
        DocumentSettings.model_validate(wrong)


def test_a_chunk_has_to_fit_into_the_background_of_a_message() -> None:
    documents = DocumentSettings(chunk_tokens=300)
    with pytest.raises(
        ValidationError, match=r"documents\.chunk_tokens: a chunk of 300 tokens never fits into the 200"
    ):
        SessionSettings(knowledge_tokens=200, documents=documents)
    assert SessionSettings(knowledge_tokens=300, documents=documents).documents.chunk_tokens == 300


def test_the_tail_grows_before_it_is_folded() -> None:
    with pytest.raises(ValidationError, match="tail_turns"):
        SessionSettings(verbatim_turns=20, tail_turns=20)
