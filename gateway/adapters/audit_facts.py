"""What the audit trail tells of each change of lists and settings: numbers, ids and names of fields."""

from collections.abc import Mapping
from dataclasses import asdict

from gateway.domain.moderation.phrases import PhraseList
from gateway.domain.moderation.policy import OwnPolicy
from gateway.moderation_ports import KeptList

Facts = Mapping[str, str | int | float | bool | None]


def of_new_list(new: KeptList, first: PhraseList) -> Facts:
    return {
        **_counts(first),
        "direction": str(new.direction),
        "scenario": None if new.scenario is None else str(new.scenario),
        "live_version": new.live_version,
    }


def of_new_version(version: int, said: PhraseList) -> Facts:
    return {"version": version, **_counts(said)}


def of_going_live(version: int | None, before: KeptList) -> Facts:
    return {"version": version, "before": before.live_version}


def of_archiving(before: KeptList) -> Facts:
    return {"before": before.live_version}


def of_policy(policy: OwnPolicy) -> Facts:
    """A mask is a person's words, so only whether it is set."""
    return {**asdict(policy), "mask": policy.mask is not None}


def _counts(said: PhraseList) -> Facts:
    return {"phrases": len(said.phrases), "allowed": len(said.allowed)}
