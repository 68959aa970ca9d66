"""What is said about a text."""

from hashlib import sha256

import pytest

from gateway.domain.moderation.phrases import Action, Phrase, Rule, Severity
from gateway.domain.moderation.verdict import Verdict, finding


def found(action: Action) -> Rule:
    return Rule(Phrase("r-1", "a secret word", "fraud", Severity.HIGH, action), " a secret word ", "tenant", 7)


def test_a_finding_names_the_rule_and_the_version_of_its_list_and_never_the_words() -> None:
    told = finding(found(Action.MASK), 3, 9, "secret")
    assert (told.rule, told.category, told.severity, told.action) == ("r-1", "fraud", Severity.HIGH, Action.MASK)
    assert (told.list_name, told.list_version, told.start, told.end) == ("tenant", 7, 3, 9)
    assert "secret" not in repr(told)
    assert told.digest == sha256(b"secret").hexdigest()


def test_half_a_character_has_a_digest_too() -> None:
    assert finding(found(Action.FLAG), 0, 1, "\ud800").digest


@pytest.mark.parametrize(
    ("actions", "strictest"),
    [
        ((), None),
        ((Action.FLAG,), Action.FLAG),
        ((Action.MASK, Action.FLAG), Action.MASK),
        ((Action.FLAG, Action.BLOCK, Action.MASK), Action.BLOCK),
    ],
)
def test_the_strictest_action_is_the_verdict(actions: tuple[Action, ...], strictest: Action | None) -> None:
    assert Verdict("", tuple(finding(found(action), 0, 1, "x") for action in actions), None).action is strictest
