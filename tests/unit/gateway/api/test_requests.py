import pytest

from gateway.api.body import RequestInvalid, taken
from gateway.api.requests import ScenarioBody, SessionBody
from sessions.domain.scenario import Criterion, Rubric, Scene

LEAST = {
    "title": "A late parcel",
    "locale": "en",
    "persona": "You are a customer.",
    "opening": "Where is my desk?",
    "scenes": [{"name": "complaint", "script": "They complain."}],
}


def test_the_least_becomes_a_scenario_with_the_usual_limits() -> None:
    content = taken(ScenarioBody, LEAST).content()
    assert (content.instructions, content.rubric) == ("", Rubric())
    assert (content.max_turns, content.max_reply_tokens) == (50, None)
    assert content.scenes == (Scene("complaint", "They complain."),)


def test_everything_becomes_a_scenario() -> None:
    rubric = {"criteria": [{"name": "a", "description": "b", "weight": 2, "blocker": True}], "pass_mark": 1}
    limits = {"max_turns": 3, "max_reply_tokens": 9}
    content = taken(ScenarioBody, {**LEAST, "instructions": "x", "rubric": rubric, "limits": limits}).content()
    assert content.rubric == Rubric((Criterion("a", "b", 2.0, blocker=True),), 1.0)
    assert (content.instructions, content.max_turns, content.max_reply_tokens) == ("x", 3, 9)


@pytest.mark.parametrize("locale", ["zh-CN", "en", "zh-Hans-CN", "yue"])
def test_a_locale_is_a_language_tag(locale: str) -> None:
    assert taken(ScenarioBody, {**LEAST, "locale": locale}).locale == locale


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        *(("locale", locale) for locale in ("", "e", "en_US", "en-", "english", "en-US\n", "x" * 40, "中文")),
        *(("title", title) for title in ("a\nb", "x" * 201, "a\u2028b", 1)),
        ("scenes", {}),
        ("scenes", [1]),
        ("scenes", [{"name": "a"}]),
        ("scenes", [{"name": "a", "script": "b", "c": 1}]),
        ("rubric", []),
        ("rubric", {}),
        ("rubric", {"criteria": [{"name": "a"}]}),
        ("rubric", {"criteria": [], "pass_mark": 2}),
        ("rubric", {"criteria": [{"name": "a", "description": "b", "weight": "2"}]}),
        ("rubric", {"criteria": [{"name": "a", "description": "b", "blocker": 1}]}),
        *(("limits", {"max_turns": turns}) for turns in (0, -1, 1.5, "5", True, None, 2**31)),
    ],
)
def test_what_no_scenario_can_have_is_named(field: str, wrong: object) -> None:
    with pytest.raises(RequestInvalid) as caught:
        taken(ScenarioBody, {**LEAST, field: wrong})
    assert all(name.startswith(field) for name, _ in caught.value.faults)


@pytest.mark.parametrize(
    "metadata",
    [
        *({"": "a"}, {"a": 1}, {"a": None}, {"a\n": "b"}, {"a": "\x00"}, {"x" * 65: "a"}, {"a": "x" * 513}),
        *([], "a", {str(number): "a" for number in range(33)}),
    ],
)
def test_metadata_are_a_few_short_texts(metadata: object) -> None:
    with pytest.raises(RequestInvalid):
        taken(SessionBody, {"scenario_id": "x", "metadata": metadata})
    assert taken(SessionBody, {"scenario_id": "x", "metadata": {"座位": "12\nA"}}).metadata == {"座位": "12\nA"}
