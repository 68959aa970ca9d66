import json
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.api.body import MAX_BRACKETS, MAX_NAMES, RequestInvalid, parsed, taken
from gateway.api.requests import QuestionsBody, ScenarioBody, SessionBody, TurnBody
from gateway.errors import BodyNotJson

SENT = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(SENT)
def test_whatever_is_json_is_read_as_it_is(value: object) -> None:
    for ascii_only in (True, False):
        assert parsed(json.dumps(value, ensure_ascii=ascii_only).encode()) == value


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_refused_in_our_words(raw: bytes) -> None:
    with suppress(BodyNotJson):
        parsed(raw)


@pytest.mark.parametrize("depth", [500, 5_000, 100_000])
def test_nesting_ends_in_a_refusal_at_worst(depth: int) -> None:
    with suppress(BodyNotJson):
        parsed(b"[" * depth + b"]" * depth)


def test_a_whole_emoji_may_be_escaped() -> None:
    assert parsed(b'"\\ud83d\\ude42"') == "🙂"


def test_reasons_name_fields_and_never_repeat_values() -> None:
    with pytest.raises(RequestInvalid) as caught:
        taken(ScenarioBody, {"title": "the secret\n", "scenes": [{"name": "a", "script": 1}], "wrong": "the secret"})
    fields = dict(caught.value.faults)
    assert {"title", "locale", "persona", "opening", "scenes.0.script", "wrong"} <= set(fields)
    assert "secret" not in str(caught.value.faults)


def test_many_faults_are_not_all_told() -> None:
    with pytest.raises(RequestInvalid) as caught:
        taken(TurnBody, {f"x{number}": 1 for number in range(1000)})
    assert len(caught.value.faults) == 20


@pytest.mark.parametrize("text", ["a\tb\r\nc", "你好 🙂", "\u2028", "\u200b"])
def test_layout_and_letters_of_every_kind_may_stand_in_a_text(text: str) -> None:
    assert taken(TurnBody, {"text": text}).text == text


@pytest.mark.parametrize("text", ["\x00", "\x08", "\x1b", "\x7f", "\x85", "\x9f"])
def test_control_characters_may_not(text: str) -> None:
    with pytest.raises(RequestInvalid):
        taken(TurnBody, {"text": text})


def test_more_names_and_more_brackets_than_anybody_needs_are_refused() -> None:
    names = json.dumps({str(number): 1 for number in range(MAX_NAMES)}).encode()
    assert parsed(names)
    with pytest.raises(BodyNotJson, match="1000 names"):
        parsed(names[:-1] + b', "x": 1}')
    assert parsed(b"[" + b"[]," * (MAX_BRACKETS - 2) + b"[]]")
    with pytest.raises(BodyNotJson, match="30000 opening brackets"):
        parsed(b"[" + b"[]," * MAX_BRACKETS + b"[]]")


LIMIT_BYTES = 262_144


def filled(begin: str, unit: str, end: str) -> bytes:
    """As long as a body may be."""
    return (begin + unit * ((LIMIT_BYTES - len(begin) - len(end)) // len(unit)) + end).encode()


BOMBS = {
    "nested": b"[" * (LIMIT_BYTES // 2) + b"]" * (LIMIT_BYTES // 2),
    "nested often": filled("[", "[" * 200 + "]" * 200 + ",", "0]"),
    "numbers": filled("[", "1,", "1]"),
    "long numbers": filled("[", "1" * 40 + ",", "1]"),
    "tiny numbers": filled("[", "1e-999,", "1]"),
    "empty objects": filled("[", "{},", "1]"),
    "names": json.dumps({f"{number:x}": 1 for number in range(20_000)}).encode(),
    "names within": b'{"metadata":' + json.dumps({f"{number:x}": 1 for number in range(20_000)}).encode() + b"}",
    "one name": filled("{", '"a":1,', '"a":1}'),
    "escapes": filled('{"text":"', "\\u4e2d", '"}'),
    "control characters": filled('{"text":"', "\\u0001", '"}'),
    "white space": filled("{", " ", "}"),
    "scenes": filled('{"scenes":[', "{},", "{}]}"),
    "no scenes": filled('{"scenes":[', "1,", "1]}"),
    "no questions": filled('{"questions":[', "1,", "1]}"),
    "a language": filled('{"locale":"zh', "-aa", '!"}'),
}


def cost_s(bomb: bytes) -> float:
    """Of reading it, and of taking it for the worst of these."""
    began = time.process_time()
    try:
        value = parsed(bomb)
    except BodyNotJson:
        return time.process_time() - began
    read, costs = time.process_time() - began, []
    for model in (TurnBody, ScenarioBody, SessionBody, QuestionsBody):
        began = time.process_time()
        with suppress(RequestInvalid):
            taken(model, value)
        costs.append(time.process_time() - began)
    return read + max(costs)


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_no_body_holds_everybody_up_for_long(bomb: bytes) -> None:
    """Some 40 ms at worst where it was measured; a machine may be slower."""
    assert min(cost_s(bomb) for _ in range(3)) < 0.15
