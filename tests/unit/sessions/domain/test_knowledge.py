"""Names of bases and documents, and when two documents say the same."""

from dataclasses import replace

import pytest

from sessions.domain.knowledge import (
    MAX_GUIDANCE_CHARACTERS,
    MAX_NAME_CHARACTERS,
    MediaType,
    checked_guidance,
    checked_name,
    digest,
)
from sessions.errors import KnowledgeInvalid
from tests.support.knowledge_world import document


def test_a_name_loses_the_blanks_around_it() -> None:
    assert checked_name("  产品手册 2026 ") == "产品手册 2026"
    assert checked_name("x" * MAX_NAME_CHARACTERS) == "x" * MAX_NAME_CHARACTERS


@pytest.mark.parametrize("name", ["", " \t", "a\nb", "a\x00", "a\u2028b", "\ud800", "x" * (MAX_NAME_CHARACTERS + 1)])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(KnowledgeInvalid) as caught:
        checked_name(name)
    assert caught.value.field == "name"
    assert caught.value.detail


def test_a_guidance_is_bounded_and_may_be_empty() -> None:
    assert checked_guidance(" Quote\nprices. ") == "Quote\nprices."
    assert checked_guidance(" ") == ""
    with pytest.raises(KnowledgeInvalid) as caught:
        checked_guidance("x" * (MAX_GUIDANCE_CHARACTERS + 1))
    assert caught.value.field == "guidance"


def test_a_document_says_the_same_whoever_wrote_it() -> None:
    one = document("prices")
    assert one.says_the_same_as(replace(document("prices again"), name=one.name))
    for other in (
        replace(one, name="other"),
        replace(one, media_type=MediaType.MARKDOWN),
        replace(one, sha256=digest(b"other")),
        replace(one, tokens=one.tokens + 1),
        replace(one, chunk_count=one.chunk_count + 1),
    ):
        assert not one.says_the_same_as(other)
