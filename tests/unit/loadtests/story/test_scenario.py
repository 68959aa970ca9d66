"""The script is long, the same each time, and something the API takes."""

import json

from loadtests.story.scenario import reply, scenario


def test_the_script_is_as_long_as_scripts_in_practice() -> None:
    scenes = scenario()["scenes"]
    assert isinstance(scenes, list)
    words = len(scenes[0]["script"].split())
    assert 650 < words < 850


def test_it_is_the_same_each_time() -> None:
    assert json.dumps(scenario()) == json.dumps(scenario())


def test_every_part_is_about_something_else() -> None:
    scenes = scenario()["scenes"]
    assert isinstance(scenes, list)
    parts = scenes[0]["script"].split("\n")
    assert len({part.partition(": ")[2] for part in parts}) == len(parts) == 9


def test_a_reply_has_as_many_words_as_were_asked_for() -> None:
    assert len(reply(110).split()) == 110
    assert reply(1) == "Well."
