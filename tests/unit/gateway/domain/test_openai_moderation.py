"""A moderation as OpenAI's clients ask for it and read it."""

import pytest

from gateway.domain.openai_moderation import CATEGORIES, MOST_INPUTS, asked_moderation, moderation_answer, result
from gateway.errors import FieldInvalid, ParameterUnsupported
from sessions.domain.moderation import NOTHING_FOUND, Action, BlockReason, Direction, Judgement, Mark, Source


def mark(category: str, *, score: float | None = None) -> Mark:
    return Mark(Direction.INPUT, Source.PHRASE, "r1", category, 2, Action.FLAG, score=score)


@pytest.mark.parametrize(
    ("body", "texts"),
    [
        ({"input": "one"}, (("one",),)),
        ({"input": ["one", "two"], "model": "omni-moderation-latest"}, (("one",), ("two",))),
        ({"input": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}, (("one", "two"),)),
    ],
)
def test_each_text_has_its_result_and_parts_have_one_together(body: object, texts: object) -> None:
    assert asked_moderation(body) == texts


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ([], "body"),
        ({}, "input"),
        ({"input": []}, "input"),
        ({"input": 5}, "input"),
        ({"input": ["one", 5]}, "input.1"),
        ({"input": [5]}, "input.0"),
        ({"input": [{"type": "image_url", "image_url": {"url": "data:"}}]}, "input.0"),
        ({"input": [{"type": "text"}]}, "input.0"),
        ({"input": [{"type": "text", "text": "one"}, "two"]}, "input.1"),
        ({"input": ["one"] * (MOST_INPUTS + 1)}, "input"),
        ({"input": "one", "model": 5}, "model"),
    ],
)
def test_what_is_wrong_is_told_with_its_field(body: object, field: str) -> None:
    with pytest.raises(FieldInvalid) as refused:
        asked_moderation(body)
    assert refused.value.field == field


def test_a_parameter_that_is_not_known_is_refused() -> None:
    with pytest.raises(ParameterUnsupported):
        asked_moderation({"input": "one", "stream": True})


def test_a_text_in_which_nothing_was_found_has_every_category_and_none_of_them() -> None:
    answer = moderation_answer("modr-1", [NOTHING_FOUND])
    none = dict.fromkeys(CATEGORIES, False)
    assert answer == {
        "id": "modr-1",
        "model": "drillyard-moderation",
        "results": [
            {
                "flagged": False,
                "categories": none,
                "category_scores": dict.fromkeys(CATEGORIES, 0.0),
                "category_applied_input_types": {name: ["text"] for name in CATEGORIES},
            }
        ],
    }


def test_our_categories_stand_beside_them_each_with_its_highest_score() -> None:
    marks = mark("violence"), mark("finance", score=0.4), mark("finance", score=0.2)
    found = result(Judgement(marks, BlockReason.INJECTION))
    assert found["flagged"]
    assert found["categories"] == {**dict.fromkeys(CATEGORIES, False), "violence": True, "finance": True}
    assert found["category_scores"] == {**dict.fromkeys(CATEGORIES, 0.0), "violence": 1.0, "finance": 0.4}
