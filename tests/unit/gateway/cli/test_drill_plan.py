import pytest

from gateway.cli.drill_plan import DrillPlan, check_turns, chosen, think_time_s
from gateway.cli.failure import CommandFailed
from gateway.cli.wire import ScenarioLimits, ScenarioView

ZH = ScenarioView(id="aa", title="退货投诉", locale="zh-CN", limits=ScenarioLimits(max_turns=8))
EN = ScenarioView(id="bb", title="An angry customer", locale="en-GB")
US = ScenarioView(id="cc", title="A calm customer", locale="en-US")
ALL = (ZH, EN, US)


def plan(*, think_s: float = 2.0, seed: int = 1) -> DrillPlan:
    return DrillPlan("aa", trainees=1, turns=1, think_s=think_s, timeout_s=1.0, seed=seed, lines=("x",))


@pytest.mark.parametrize(
    ("asked", "expected"),
    [("bb", EN), ("zh-CN", ZH), ("ZH", ZH), ("en-us", US), ("ANGRY", EN), ("投诉", ZH)],
)
def test_a_scenario_is_found_by_id_locale_language_or_title(asked: str, expected: ScenarioView) -> None:
    assert chosen(ALL, asked, default=None) == expected


@pytest.mark.parametrize("asked", ["en", "customer"])
def test_a_name_of_several_scenarios_is_answered_with_their_ids(asked: str) -> None:
    with pytest.raises(CommandFailed, match=r"names several.*bb \(en-GB.*cc \(en-US"):
        chosen(ALL, asked, default=None)


def test_a_whole_title_means_its_scenario_also_where_it_begins_another_title() -> None:
    longer = ScenarioView(id="dd", title="An angry customer and a late parcel", locale="en-GB")
    assert chosen((longer, *ALL), "an angry CUSTOMER", default=None) == EN


def test_an_unknown_name_is_answered_with_all_there_is() -> None:
    with pytest.raises(CommandFailed, match=r"no scenario is named 'fr'.*aa .*bb .*cc "):
        chosen(ALL, "fr", default=None)


def test_without_a_name_the_default_is_meant_or_the_only_one() -> None:
    assert chosen(ALL, None, default="cc") == US
    assert chosen((EN,), None, default=None) == EN
    with pytest.raises(CommandFailed, match="several"):
        chosen(ALL, None, default=None)
    with pytest.raises(CommandFailed, match="several"):
        chosen(ALL, None, default="gone")


def test_a_server_without_scenarios_says_so() -> None:
    with pytest.raises(CommandFailed, match="no scenario"):
        chosen((), "zh", default=None)


def test_more_turns_than_a_scenario_allows_are_refused() -> None:
    check_turns(ZH, 8)
    check_turns(EN, 200)
    with pytest.raises(CommandFailed, match="give --turns 8 or less"):
        check_turns(ZH, 9)


def test_the_time_to_think_is_drawn_around_its_mean_and_the_same_for_the_same_seed() -> None:
    drawn = [think_time_s(plan(), trainee=trainee, turn=turn) for trainee in range(20) for turn in range(20)]
    assert all(1.0 <= value <= 3.0 for value in drawn)
    assert 1.9 < sum(drawn) / len(drawn) < 2.1
    assert drawn == [think_time_s(plan(), trainee=trainee, turn=turn) for trainee in range(20) for turn in range(20)]
    assert think_time_s(plan(seed=2), trainee=0, turn=0) != drawn[0]
    assert think_time_s(plan(think_s=0), trainee=0, turn=0) == 0
