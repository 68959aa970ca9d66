r"""What stands in JSON is found as if it stood there plainly."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.moderation.phrases import Action
from gateway.domain.moderation.release import ReleaseFilter, moderate
from tests.support.phrase_lists import book

BOOK = book("free money", "保本高收益", "가나")
MATTER = ("free", "money", " ", "\n", "\t", "\b", "\f", '"', "\\", "n", "保本", "高收益", "🙂", "가", "나", "\u200b")
texts = st.lists(st.sampled_from(MATTER), max_size=10).map("".join)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (r'{"say":"Hi,\nfree money"}', (13, 23)),
        (r"free\r\n\tmoney", (0, 15)),
        (r"a f\bree money", (2, 14)),
        (r"\u4FDD本\u9ad8收\u76ca。", (0, 20)),
        (r"\u4f\u4fdd本高收益", (4, 14)),
        (r"\ud83d\ude42保本\ud83d\ude42高收益", (12, 29)),
        (r"\q\nfree money", (4, 14)),
        (r"\u00\nfree money", (6, 16)),
        (r"\\free money", (2, 12)),
        (r"\uac00\ub098.", (0, 12)),
        (r"free\ud83d\ude42money", (0, 21)),
    ],
)
def test_a_phrase_is_found_where_its_escapes_begin_and_end(text: str, place: tuple[int, int]) -> None:
    found = moderate(text, BOOK)
    assert found.blocked is not None
    assert ((found.blocked.start, found.blocked.end), found.text) == (place, text[: place[0]])


@pytest.mark.parametrize(
    "text",
    [
        r"\\nfree money",
        r"\\u4fdd本高收益",
        r"保本高收\u76c",
        r"free \u006d",
        "free \\",
        r"\u4fd保本高收",
        r"free \money",
    ],
)
def test_what_is_no_escape_stands_for_itself(text: str) -> None:
    found = moderate(text, BOOK)
    assert (found.blocked is None, found.text) == (text != r"free \money", text if found.blocked is None else "")


@pytest.mark.parametrize(
    "text", ["free money\\", r"free money\n", r"free money\u4f", r"free money\q", r"x\n free money", "\\ 가"]
)
def test_what_both_readings_find_is_told_once(text: str) -> None:
    assert len(moderate(text, book("free money", "가", action=Action.FLAG)).findings) == 1


@pytest.mark.parametrize("before", ["", r"\n"])
def test_what_is_allowed_is_so_in_its_json_too(before: str) -> None:
    rules = book("行业第一", allowed=("行业第一梯队",))
    for text in ("行业第一梯队", "行业第\n一梯队", "行业第一\n梯队"):
        for ascii_only in (False, True):
            written = before + json.dumps(text, ensure_ascii=ascii_only)
            assert moderate(written, rules).blocked is None
            banned = moderate(written.replace(json.dumps("队", ensure_ascii=ascii_only).strip('"'), ""), rules)
            assert banned.blocked is not None


@given(text=texts, ascii_only=st.booleans(), cut=st.integers(1, 7))
def test_what_is_found_in_a_text_is_found_in_its_json_however_it_is_cut(text: str, ascii_only: bool, cut: int) -> None:
    written = json.dumps({"say": text}, ensure_ascii=ascii_only)
    whole = moderate(written, BOOK)
    if moderate(text, BOOK).blocked is not None:
        assert whole.blocked is not None
    release = ReleaseFilter(BOOK)
    told = [release.feed(written[at : at + cut]).text for at in range(0, len(written), cut)]
    assert ("".join(told) + release.finish().text, release.blocked) == (whole.text, whole.blocked)
