"""Profiles as JSON, and what the shipped ones say of published figures."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from loadtests.simulator.domain.engine import OUT_OF_MEMORY, Engine
from loadtests.simulator.domain.generation import Generation, RequestId, Step
from loadtests.simulator.domain.profile import Profile
from loadtests.simulator.profile_files import UnusableProfile, load, parse, shipped, text_of

PUBLISHED_SESSION_TOKENS = 4_374
"""8.6 GB of KV for 10 sessions, at 196,608 bytes a token."""


def ask(engine: Engine, *, users: int, tokens: int, output: int = 4) -> list[Step]:
    """All users at one bell: nobody's prompt is computed before the last one is there."""
    for user in range(users):
        prompt = tuple(range(user * 10_000, user * 10_000 + tokens))
        engine.submit(Generation(RequestId(str(user)), prompt, tuple(range(output)), output), at_s=0)
    steps = []
    while (step := engine.step()) is not None:
        steps.append(step)
        if step.died_of is not None:
            break
    return steps


def warm(profile: Profile) -> Engine:
    return Engine(replace(profile, start_up=replace(profile.start_up, first_request_ms=0)))


def test_four_profiles_are_shipped() -> None:
    assert shipped() == ["48gb-14b-after", "48gb-14b-before", "cpu-smollm2", "h200-7b"]


@pytest.mark.parametrize("name", shipped())
def test_each_figure_says_where_it_comes_from(name: str) -> None:
    profile = load(name)
    assert profile.name == name
    assert all(source.why for source in profile.sources)
    assert parse(text_of(profile)) == profile


def test_the_pool_of_the_recorded_server_is_rebuilt() -> None:
    profile = load("cpu-smollm2")
    assert profile.blocks * profile.limits.block_tokens == 46_592


def test_the_untuned_card_is_as_slow_as_published() -> None:
    steps = ask(warm(load("48gb-14b-before")), users=1, tokens=PUBLISHED_SESSION_TOKENS)
    assert steps[0].duration_s == pytest.approx(0.850, rel=0.02)
    steps = ask(warm(load("48gb-14b-before")), users=10, tokens=PUBLISHED_SESSION_TOKENS)
    assert steps[-1].duration_s == pytest.approx(0.038, rel=0.02)


def test_the_untuned_card_holds_ten_sessions_and_not_eleven() -> None:
    tokens = load("48gb-14b-before").blocks * 16
    assert tokens // PUBLISHED_SESSION_TOKENS == 10


def test_the_untuned_card_dies_when_fifteen_users_start_at_one_bell() -> None:
    survived = ask(warm(load("48gb-14b-before")), users=10, tokens=PUBLISHED_SESSION_TOKENS)
    assert survived[-1].died_of is None
    assert ask(warm(load("48gb-14b-before")), users=15, tokens=3_200)[-1].died_of == OUT_OF_MEMORY


def test_the_tuned_card_is_as_fast_as_published() -> None:
    one = ask(warm(load("48gb-14b-after")), users=1, tokens=4_000)
    # A window holds 4,096, so the published prompt of 4,374 is scaled down; two bounded steps compute it.
    assert sum(step.duration_s for step in one[:2]) == pytest.approx(0.420 * 4_000 / PUBLISHED_SESSION_TOKENS, rel=0.05)
    many = ask(warm(load("48gb-14b-after")), users=35, tokens=785, output=40)
    assert max(step.duration_s for step in many[-20:]) == pytest.approx(0.016, rel=0.02)


def test_the_tuned_card_survives_the_bell() -> None:
    assert ask(warm(load("48gb-14b-after")), users=64, tokens=3_200)[-1].died_of is None


def document(**changes: object) -> str:
    content = json.loads(text_of(load("cpu-smollm2")))
    return json.dumps({**content, **changes})


def figure(value: object) -> dict[str, object]:
    return {"value": value, "source": "assumed", "why": "a test"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "Invalid JSON"),
        (document(decode={}), "decode.weights_ms: Field required"),
        (document(decode={"weights_ms": {"value": 1}}), "decode.weights_ms.source: Field required"),
        (document(start_up={"load_s": figure("soon"), "first_request_ms": figure(1)}), "start_up.load_s"),
        (document(start_up={"load_s": figure(1), "first_request_ms": figure(1), "colour": figure(1)}), "colour"),
        (document(start_up={"load_s": figure(-1), "first_request_ms": figure(1)}), "start_up.load_s must be a number"),
    ],
)
def test_a_profile_that_cannot_be_used_says_why(text: str, complaint: str) -> None:
    with pytest.raises(UnusableProfile, match=complaint):
        parse(text)


def test_a_profile_may_be_a_file_of_yours(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(text_of(replace(load("h200-7b"), name="mine")))
    assert load(str(path)).name == "mine"


def test_an_unknown_name_lists_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(UnusableProfile, match=r"neither a readable file nor one of: 48gb-14b-after, .*h200-7b"):
        load(str(tmp_path / "nothing"))


def test_a_profile_without_sources_can_be_written() -> None:
    bare = replace(load("cpu-smollm2"), sources=())
    assert parse(text_of(bare)).sources[0].why == "not said"
