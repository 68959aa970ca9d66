"""A step of the story is played on a stack of its own, with the scenario and the replies of the story."""

from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.run_files import read_drill, read_object
from loadtests.run_folder import RunFolder
from loadtests.story.playing import told
from loadtests.story.steps import STEPS, Telling, quick

pytestmark = pytest.mark.timeout(180)

TELLING = replace(quick(Telling()), cards=1, per_card=(1, 2), stair_s=40.0, speed_up=20.0)


def test_a_step_is_played_with_the_script_and_the_replies_of_the_story(tmp_path: Path) -> None:
    said: list[str] = []
    (chapter,) = told([STEPS[-1]], TELLING, runs=tmp_path, say=said.append)
    given = chapter.given
    assert len(given.stairs) == 2
    assert not any(stair.failed for stair in given.stairs)
    assert given.prompt_tokens is not None
    assert given.prompt_tokens > 1100  # the script and the persona
    assert given.cached_share is not None
    assert given.cached_share > 0.5
    assert read_drill(RunFolder(chapter.run)).wire is STEPS[-1].wire
    assert read_object(RunFolder(chapter.run).facts)["story"] == STEPS[-1].name
    assert any(line.startswith("step 1 of 1, speculation") for line in said)
