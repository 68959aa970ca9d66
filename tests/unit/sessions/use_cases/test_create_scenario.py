"""Scenarios are checked before they are written."""

import pytest

from sessions.domain.scenario import Criterion, Rubric, Scene
from sessions.errors import ScenarioInvalid
from tests.support.session_fakes import content
from tests.support.stage import staged


async def test_a_new_scenario_is_its_own_first_version() -> None:
    stage = await staged()
    assert (stage.scenario.version, stage.scenario.latest_version) == (1, 1)
    assert await stage.use.read_scenario(stage.trainee, stage.scenario.id) == stage.scenario


@pytest.mark.parametrize(
    ("changes", "field", "told"),
    [
        ({"instructions": "word " * 600}, "instructions", "604 tokens, and at most 500"),
        ({"opening": "word " * 101}, "opening", "101 tokens, and at most 100"),
        ({"scenes": (Scene("one", "word " * 501),)}, "scenes", "501 tokens, and at most 500"),
        ({"max_reply_tokens": 101}, "limits.max_reply_tokens", "1 to 100 tokens"),
        ({"title": " "}, "title", "empty"),
        ({"scenes": ()}, "scenes", "1 to 20 scenes"),
        ({"rubric": Rubric((Criterion("a", "a", weight=0),))}, "rubric.criteria", "no criterion has a weight"),
    ],
)
async def test_a_scenario_that_cannot_be_played_is_refused_with_the_count(
    changes: dict[str, object], field: str, told: str
) -> None:
    stage = await staged()
    with pytest.raises(ScenarioInvalid, match=told) as caught:
        await stage.use.create_scenario(stage.author, content(**changes))
    assert caught.value.field == field
    page = await stage.use.list_scenarios(stage.author, 10)
    assert page.items == (stage.scenario,)
