"""What reviewers send."""

from typing import Literal
from uuid import UUID

from pydantic import Field

from gateway.api.body import RequestInvalid
from gateway.api.ids import list_id_of, uuid_of
from gateway.api.requests import Line, PageQuery, Sent, Text
from gateway.domain.cursor import read_turn
from gateway.review_cases import Wish
from sessions.domain.moderation import Source, Verdict
from sessions.domain.review import ChangeKind, Decided, ListChange, ReviewFilter, ReviewPlace, ReviewState
from sessions.domain.session import SessionId

_LONGEST_NOTE = 2_000
_NOBODYS = UUID(int=0)


class ReviewsQuery(PageQuery):
    state: Literal["open", "decided"] | None = None
    session_id: str | None = None
    source: Literal["phrase", "injection", "guard", "outline"] | None = Field(
        default=None, description="what one of the findings was found by"
    )
    verdict: Literal["flag", "block"] | None = None

    def after(self) -> ReviewPlace | None:
        """Raises `FieldInvalid`."""
        return None if self.cursor is None else read_turn(self.cursor)

    def wanted(self) -> ReviewFilter:
        """What could not be a session's id is that of no session."""
        return ReviewFilter(
            state=None if self.state is None else ReviewState(self.state),
            session=None if self.session_id is None else SessionId(uuid_of(self.session_id) or _NOBODYS),
            source=None if self.source is None else Source(self.source),
            verdict=None if self.verdict is None else Verdict(self.verdict),
        )


class AllowBody(Sent):
    """A phrase in which banned ones may stand from now on."""

    list_id: str
    phrase: Line


class RemoveRuleBody(Sent):
    list_id: str
    rule: Line


class EffectBody(Sent):
    """What a false alarm changes in a phrase list: one of these."""

    allow: AllowBody | None = None
    remove_rule: RemoveRuleBody | None = None

    def change(self) -> ListChange:
        """Raises `RequestInvalid`, or `PhraseListNotFound` for what could not be a list's id."""
        match self.allow, self.remove_rule:
            case AllowBody(list_id=named, phrase=phrase), None:
                return ListChange(ChangeKind.ALLOW, list_id_of(named), phrase)
            case None, RemoveRuleBody(list_id=named, rule=rule):
                return ListChange(ChangeKind.REMOVE_RULE, list_id_of(named), rule)
            case _:
                raise RequestInvalid([("effect", "it is either allow or remove_rule")])


class DecisionBody(Sent):
    """What is decided about a turn, once and for good."""

    decision: Literal["confirmed", "false_alarm"]
    note: Text = Field(default="", max_length=_LONGEST_NOTE)
    effect: EffectBody | None = None

    def wish(self) -> Wish:
        """Raises `RequestInvalid` or `PhraseListNotFound`."""
        decided = Decided(self.decision)
        if self.effect is not None and decided is not Decided.FALSE_ALARM:
            raise RequestInvalid([("effect", "only a false alarm changes a list")])
        return Wish(decided, self.note, None if self.effect is None else self.effect.change())
