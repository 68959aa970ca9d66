"""The commands for reviews and outlines against the API over real HTTP."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.integration.api.house import SCENARIO
from tests.integration.cli.api_thread import Running
from tests.integration.cli.conftest import Command, Ended

Moderation = Callable[..., Ended]
PHRASES = [{"id": "r0", "text": "returns"}, {"id": "r1", "text": "our secret", "action": "flag"}]
OUTLINE = {
    "required": [{"name": "greeting", "phrases": ["hello there"]}, {"name": "terms", "phrases": ["notice period"]}],
    "forbidden": [{"name": "guarantee", "phrases": ["guaranteed return"]}],
}


@pytest.fixture
def moderation(drillyard: Command, api: Running) -> Moderation:
    def run(*words: str) -> Ended:
        return drillyard("moderation", *words, "--base-url", api.house.base_url, "--key", api.instructor_key)

    return run


@pytest.fixture
def session(api: Running) -> str:
    """One with a blocked, a flagged and a plain turn, and a list in force that says why."""
    say(api, "instructor", "/v1/moderation/lists", {"name": "words", "phrases": PHRASES, "live": True})
    scenario = say(api, "instructor", "/v1/scenarios", {**SCENARIO, "outline": OUTLINE})["id"]
    opened = str(say(api, "trainee", "/v1/sessions", {"scenario_id": scenario})["id"])
    for text in ("Your returns policy?", "It is our secret", "Well then"):
        say(api, "trainee", f"/v1/sessions/{opened}/turns", {"text": text})
    return opened


def say(api: Running, role: str, path: str, body: dict[str, object]) -> dict[str, Any]:
    headers = dict(getattr(api.house.here, role).headers)
    answer = httpx.post(f"{api.house.base_url}{path}", json=body, headers=headers, trust_env=False)
    assert answer.is_success, answer.text
    told: dict[str, Any] = answer.json()
    return told


def flat(ended: Ended) -> str:
    assert ended.code == 0, ended
    return " ".join(ended.out.replace("│", " ").split())


def test_what_waits_is_listed_and_shown_in_its_context(moderation: Moderation, session: str) -> None:
    listed = flat(moderation("reviews"))
    assert listed.index("flag") < listed.index("block: banned_phrase")
    assert "phrase (1)" in listed
    assert "open" in listed
    assert "block" not in flat(moderation("reviews", "--verdict", "flag", "--session", session, "--limit", "1"))
    shown = moderation("review", session, "1").out
    for told in (
        "晚到的包裹",
        "> withheld: 'Your returns",
        "> block: banned_phrase",
        "input: block by phrase r0 of words version 1 (general) at 5-12",
        "trainee: 'It is our secret'",
        "open",
    ):
        assert told in shown


def test_a_finding_that_stands_in_no_list_is_shown_as_well(moderation: Moderation, api: Running) -> None:
    outline = {"forbidden": [{"name": "greeting", "phrases": ["hello there"]}]}
    scenario = say(api, "instructor", "/v1/scenarios", {**SCENARIO, "outline": outline})["id"]
    session = str(say(api, "trainee", "/v1/sessions", {"scenario_id": scenario})["id"])
    say(api, "trainee", f"/v1/sessions/{session}/turns", {"text": "Well then"})
    assert ">   output: flag by outline greeting (outline) at 0-0" in moderation("review", session, "1").out


def test_a_decision_mends_the_list_and_leaves_the_queue(moderation: Moderation, session: str, api: Running) -> None:
    words = (
        "decide",
        session,
        "1",
        "false-alarm",
        "--note",
        "she asks",
        "--list",
        "words",
        "--allow",
        "returns policy",
    )
    made = moderation(*words)
    assert "false alarm, 'she asks', allows 'returns policy' in version 2" in flat(made)
    assert moderation(*words) == made
    turn = say(api, "trainee", f"/v1/sessions/{session}/turns", {"text": "Your returns policy?"})
    assert turn["state"] == "completed"
    assert "removes rule r1 in version 3" in flat(
        moderation("decide", session, "2", "false-alarm", "--list", "words", "--remove-rule", "r1")
    )
    assert session not in moderation("reviews").out
    assert "allows 'returns policy' in version 2" in moderation("review", session, "1").out
    late = moderation("decide", session, "1", "confirmed")
    assert (late.code, late.out) == (1, "")
    assert "another decision stands" in late.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("reviews", "--state", "maybe"), "open, decided, all"),
        (("reviews", "--source", "gossip"), "phrase, injection, guard, outline"),
        (("reviews", "--verdict", "allow"), "flag, block"),
        (("decide", "x", "1", "maybe"), "confirmed, false-alarm"),
        (("decide", "x", "0", "confirmed"), "greater than or equal to 1"),
        (("decide", "x", "1", "false-alarm", "--list", "words"), "--allow or --remove-rule"),
        (("decide", "x", "1", "false-alarm", "--allow", "a b"), "--allow or --remove-rule"),
        (
            ("decide", "x", "1", "false-alarm", "--list", "words", "--allow", "a b", "--remove-rule", "r0"),
            "--allow or --remove-rule",
        ),
    ],
)
def test_wrong_options_are_told(moderation: Moderation, words: tuple[str, ...], told: str) -> None:
    ended = moderation(*words)
    assert ended.code == 2
    assert told in " ".join(ended.err.replace("│", " ").split())


def test_what_is_not_there_is_told_in_one_line(moderation: Moderation, session: str) -> None:
    for words, told in (
        (("review", session, "9"), "no such turn to review"),
        (("review", str(uuid4()), "1"), "no such turn to review"),
        (("decide", session, "1", "false-alarm", "--list", "none", "--allow", "a b"), "no phrase list 'none'"),
        (("outline", str(uuid4())), "no such session"),
    ):
        ended = moderation(*words)
        assert (ended.code, ended.out) == (1, "")
        assert told in ended.err


def test_the_outline_tells_what_was_said_and_what_not(moderation: Moderation, session: str) -> None:
    shown = flat(moderation("outline", session))
    assert "greeting required 2, 3" in shown
    assert "terms required -" in shown
    assert "guarantee forbidden -" in shown
    assert "does not comply: 1 of 2 required, 0 forbidden" in shown
