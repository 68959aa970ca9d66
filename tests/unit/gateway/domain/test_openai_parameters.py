import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.openai_parameters import (
    DROPPED,
    FORWARDABLE,
    FORWARDED,
    OWN,
    REFUSED,
    ParameterPolicy,
    reply_tokens,
    sifted,
)
from gateway.errors import FieldInvalid, ParameterUnsupported

ROW = re.compile(r"^\| `(\w+)` \| (.+) \|$", re.MULTILINE)
POLICY = ParameterPolicy(reply_tokens=100)
KINDS = (frozenset(FORWARDED), frozenset(FORWARDABLE), DROPPED, OWN, REFUSED)


def test_each_name_is_of_one_kind() -> None:
    assert sum(map(len, KINDS)) == len(frozenset().union(*KINDS))


def test_what_is_usual_goes_on_as_it_is() -> None:
    body = {"temperature": 0.2, "stop": ["x"], "seed": 7, "messages": [], "model": "m", "stream": True, "user": "u"}
    assert sifted(body, POLICY) == {"temperature": 0.2, "stop": ["x"], "seed": 7}


@pytest.mark.parametrize("name", sorted(DROPPED))
def test_what_changes_nothing_is_left_out(name: str) -> None:
    assert sifted({name: "anything"}, POLICY) == {}


@pytest.mark.parametrize("name", [*sorted(REFUSED), *FORWARDABLE])
def test_what_is_refused_is_named(name: str) -> None:
    with pytest.raises(ParameterUnsupported) as refused:
        sifted({name: "something"}, POLICY)
    assert (refused.value.param, "supported" in str(refused.value)) == (name, True)


@given(st.text(max_size=200))
def test_what_is_unknown_is_refused(name: str) -> None:
    if name not in frozenset().union(*KINDS):
        with pytest.raises(ParameterUnsupported, match="not known"):
            sifted({name: None}, POLICY)


@pytest.mark.parametrize(
    ("name", "value", "asks"),
    [
        ("n", 1, False),
        ("n", 2, True),
        ("n", True, True),
        ("n", 1.0, True),
        ("logprobs", False, False),
        ("logprobs", True, True),
        ("top_logprobs", 0, False),
        ("top_logprobs", 3, True),
        ("modalities", ["text"], False),
        ("modalities", ["text", "audio"], True),
        ("store", False, False),
        ("skip_special_tokens", False, True),
        ("prompt_logprobs", None, False),
        ("temperature", None, False),
    ],
)
def test_a_value_that_asks_for_nothing_is_no_reason_to_refuse(name: str, value: Any, asks: bool) -> None:
    if not asks:
        assert sifted({name: value}, POLICY) == {}
        return
    with pytest.raises(ParameterUnsupported):
        sifted({name: value}, POLICY)


def test_the_settings_widen_and_narrow_what_goes_on() -> None:
    policy = ParameterPolicy(frozenset({"top_k", "seed"}))
    assert sifted({"top_k": 5, "seed": 1}, policy) == {"top_k": 5, "seed": 1}
    with pytest.raises(ParameterUnsupported):
        sifted({"temperature": 1}, policy)


def test_a_value_that_cannot_be_is_refused_with_its_name() -> None:
    with pytest.raises(FieldInvalid) as refused:
        sifted({"temperature": 3}, POLICY)
    assert refused.value.field == "temperature"


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        ({}, 100),
        ({"max_tokens": 7}, 7),
        ({"max_tokens": 700}, 100),
        ({"max_tokens": None, "max_completion_tokens": 9}, 9),
        ({"max_tokens": 7, "max_completion_tokens": 9}, 9),
    ],
)
def test_a_reply_has_an_end(body: dict[str, Any], tokens: int) -> None:
    assert reply_tokens(body, POLICY) == tokens


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True, "7"])
def test_a_length_that_cannot_be_is_refused(name: str, value: object) -> None:
    with pytest.raises(FieldInvalid):
        reply_tokens({name: value}, POLICY)


def test_the_documentation_says_of_each_what_becomes_of_it() -> None:
    page = (Path(__file__).parents[4] / "docs" / "openai.md").read_text()
    rows = ROW.findall(page[page.index("## Parameters") : page.index("## Answers")])
    told = {
        **dict.fromkeys(FORWARDED, "forwarded"),
        **dict.fromkeys(FORWARDABLE, "refused, unless the settings forward it"),
        **dict.fromkeys(DROPPED, "left out"),
        **dict.fromkeys(REFUSED, "refused"),
    }
    assert {name: words for name, words in rows if name not in OWN} == told
    assert {name for name, _ in rows} == {*told, *OWN}
