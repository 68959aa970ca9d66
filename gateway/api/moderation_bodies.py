"""What staff send to moderation, beside phrase lists."""

from typing import Literal

from pydantic import Field

from gateway.api.body import RequestInvalid
from gateway.api.ids import list_id_of, scenario_id_of
from gateway.api.phrase_list_body import PhraseBody, Written
from gateway.api.requests import Line, Sent
from gateway.domain.moderation.policy import OwnPolicy
from gateway.list_trial import KeptCandidate, NewCandidate, Trial
from gateway.moderation_ports import ListDirection
from gateway.phrase_list_cases import ListContent
from gateway.text_check import CheckedAs
from sessions.domain.scenario import ScenarioId

MOST_TEXTS = 100
MOST_TURNS = 200
_NEVER = 2.0
"""No score is so high."""


class LiveBody(Sent):
    version: int | None = Field(ge=1, le=2_147_483_647, description="the one in force from now on; null: none")


class CheckBody(Sent):
    text: str
    direction: Literal["input", "output"]
    surface: Literal["user", "knowledge"] = Field(default="user", description="of an input: who says it")
    scenario_id: str | None = None

    def way(self) -> CheckedAs:
        """Raises `RequestInvalid`."""
        if self.direction == "input":
            return CheckedAs.MESSAGE if self.surface == "user" else CheckedAs.KNOWLEDGE
        if self.surface == "knowledge":
            raise RequestInvalid([("surface", "knowledge is an input")])
        return CheckedAs.REPLY

    def scenario(self) -> ScenarioId | None:
        return None if self.scenario_id is None else scenario_id_of(self.scenario_id)


class DryRunBody(Sent):
    """A list that is kept, or phrases that are not; and what they are tried on."""

    list_id: str | None = None
    version: int | None = Field(default=None, ge=1, le=2_147_483_647, description="of the list; by default the latest")
    phrases: list[PhraseBody] | None = None
    allowed: list[Written] = Field(default=[])
    scenario_id: str | None = Field(default=None, description="the one scenario that the phrases would be for")
    texts: list[str] = Field(default=[], max_length=MOST_TEXTS)
    recent_turns: int = Field(default=0, ge=0, le=MOST_TURNS, description="so many of the tenant's latest turns")
    direction: Literal["both", "input", "output"] = "both"

    def trial(self, content: ListContent | None) -> Trial:
        """Raises `RequestInvalid`, `PhraseListNotFound` or `ScenarioNotFound` for what could not be an id."""
        faults = list(self._faults(content))
        if faults:
            raise RequestInvalid(faults)
        return Trial(
            candidate=self._candidate(content),
            texts=tuple(self.texts),
            recent_turns=self.recent_turns,
            direction=ListDirection(self.direction),
        )

    def _faults(self, content: ListContent | None) -> list[tuple[str, str]]:
        faults = []
        if (self.list_id is None) == (content is None):
            faults.append(("list_id", "give either a list_id or phrases"))
        if content is None and "allowed" in self.model_fields_set:
            faults.append(("allowed", "they go with phrases that are given"))
        if self.list_id is None and self.version is not None:
            faults.append(("version", "it is a version of a list: give its list_id"))
        if self.list_id is not None and self.scenario_id is not None:
            faults.append(("scenario_id", "a list says itself which scenario it is for"))
        if not self.texts and not self.recent_turns:
            faults.append(("texts", "give texts, or recent_turns"))
        return faults

    def _candidate(self, content: ListContent | None) -> KeptCandidate | NewCandidate:
        if self.list_id is not None:
            return KeptCandidate(list_id_of(self.list_id), self.version)
        return NewCandidate(
            content or ListContent(), None if self.scenario_id is None else scenario_id_of(self.scenario_id)
        )


class ThresholdsBody(Sent):
    """Scores from which on a text is flagged, and blocked; null: inherited, and above 1: never."""

    flag: float | None = Field(default=None, ge=0, le=_NEVER)
    block: float | None = Field(default=None, ge=0, le=_NEVER)


class ModerationSettingsBody(Sent):
    """What is null or left out is inherited."""

    user: ThresholdsBody = ThresholdsBody()
    knowledge: ThresholdsBody = ThresholdsBody()
    mask: Line | None = Field(default=None, max_length=32, description="what stands in place of a masked phrase")

    def policy(self) -> OwnPolicy:
        """Raises `RequestInvalid`."""
        faults = [
            (f"{name}.block", "it must not be below the flag's score")
            for name, each in (("user", self.user), ("knowledge", self.knowledge))
            if each.flag is not None and each.block is not None and each.block < each.flag
        ]
        if faults:
            raise RequestInvalid(faults)
        return OwnPolicy(
            user_flag=self.user.flag,
            user_block=self.user.block,
            knowledge_flag=self.knowledge.flag,
            knowledge_block=self.knowledge.block,
            mask=self.mask,
        )
