"""The story told: every step in every form, and plainly what is measured and what is modelled."""

import json
from pathlib import Path
from xml.etree import ElementTree

from loadtests.domain.figures import Figures, Slice, Spread
from loadtests.report.chart import standalone
from loadtests.simulator.profile_files import load
from loadtests.story.measured import given_by
from loadtests.story.page import as_json, first_token_chart, markdown, stable_chart, story_page
from loadtests.story.playing import Chapter
from loadtests.story.profiles import AFTER
from loadtests.story.steps import STEPS, Telling


def stair(trainees: int, p95: float) -> Slice:
    return Slice(key=trainees, turns=50, failed=0, ttft=Spread(count=50, p95=p95), e2e=Spread(), tpot=Spread())


def chapters(*, void: str | None = None) -> list[Chapter]:
    told = []
    for number, step in enumerate(STEPS):
        figures = Figures(by_concurrency=(stair(8, 0.1), stair(16, 0.2 if number > 2 else 5.0)))
        given = given_by(step, figures, [], load(AFTER), cards=2, stair_s=100.0)
        told.append(Chapter(given, void, Path(f"runs/{step.name}"), 0.004))
    return told


def test_the_table_has_a_row_for_each_step_and_says_what_is_modelled() -> None:
    rows = markdown(chapters()).splitlines()[2:]
    assert [row.split(" | ")[0].strip("| ") for row in rows] == [step.name for step in STEPS]
    assert [row.rstrip(" |").rpartition("| ")[2] for row in rows] == [step.basis for step in STEPS]
    assert "| partly modelled |" in rows[3]
    assert [row.split(" | ")[2] for row in rows] == ["4", "4", "4", "8", "8", "8"]


def test_every_row_is_as_wide_as_the_head() -> None:
    assert len({line.count("|") for line in markdown(chapters()).splitlines()}) == 1


def test_the_page_stands_alone_and_sets_the_report_beside_ours() -> None:
    told = story_page(chapters(), Telling(), price_per_hour=2.5)
    for word in ("1.2 CNY", "0.35 CNY", "850 ms", "at 2.5 an hour", "modelled", "counts 4 times"):
        assert word in told
    assert "http" not in told.replace("http://www.w3.org", "")
    assert "Not to be used" not in told


def test_a_step_that_the_client_spoiled_is_said_to_be_so() -> None:
    assert "Not to be used: before: the client was late" in story_page(
        chapters(void="the client was late"), Telling(), price_per_hour=None
    )


def test_charts_are_files_of_their_own_with_a_line_for_each_step() -> None:
    given = [chapter.given for chapter in chapters()]
    for chart in (first_token_chart(given), stable_chart(given)):
        text = "".join(ElementTree.fromstring(standalone(chart)).itertext())  # noqa: S314  our own
        assert all(step.name in text for step in STEPS)


def test_json_holds_every_step_with_its_price_and_its_run() -> None:
    told = json.loads(json.dumps(as_json(chapters(), Telling(), price_per_hour=6.0), allow_nan=False))
    assert [each["run"] for each in told["steps"]] == [step.name for step in STEPS]
    assert told["steps"][0]["price_per_drill"] == 6.0 * 30 / 4 / 60
    assert told["published"][0]["what"] == "stable sessions on a card"
