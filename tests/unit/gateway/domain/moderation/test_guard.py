"""What comes of a guard's ruling."""

import pytest

from gateway.domain.moderation.guard import UNNAMED, GuardPolicy, Level, Ruling, verdicts
from sessions.domain.moderation import Verdict

USUAL = GuardPolicy()
LOCAL = GuardPolicy(
    unsafe=Verdict.FLAG,
    controversial=Verdict.ALLOW,
    categories={"jailbreak": Verdict.BLOCK, "copyright_violation": Verdict.ALLOW},
)


@pytest.mark.parametrize(
    ("ruling", "policy", "found"),
    [
        (Ruling(Level.SAFE), USUAL, {}),
        (Ruling(Level.SAFE, ("jailbreak",)), LOCAL, {}),
        (Ruling(Level.UNSAFE, ("violent",)), USUAL, {"violent": Verdict.BLOCK}),
        (Ruling(Level.CONTROVERSIAL, ("violent", "other")), USUAL, {"violent": Verdict.FLAG, "other": Verdict.FLAG}),
        (Ruling(Level.UNSAFE), USUAL, {UNNAMED: Verdict.BLOCK}),
        (Ruling(Level.CONTROVERSIAL), LOCAL, {}),
        (
            Ruling(Level.UNSAFE, ("violent", "jailbreak", "copyright_violation")),
            LOCAL,
            {"violent": Verdict.FLAG, "jailbreak": Verdict.BLOCK},
        ),
        (Ruling(Level.CONTROVERSIAL, ("jailbreak",)), LOCAL, {"jailbreak": Verdict.BLOCK}),
    ],
)
def test_a_category_is_treated_as_it_is_set_and_else_by_its_level(
    ruling: Ruling, policy: GuardPolicy, found: dict[str, Verdict]
) -> None:
    assert verdicts(ruling, policy) == found
