"""What a session refuses, and why; facts as attributes, no HTTP status."""

from collections.abc import Sequence


class SessionsError(Exception):
    """Something asked of a session cannot be done."""


class ScenarioNotFound(SessionsError):
    """There is no such scenario for this tenant."""


class SessionNotFound(SessionsError):
    """There is no such session for this viewer; foreign and missing ones look the same."""


class JobNotFound(SessionsError):
    """There is no such job in this tenant."""


class TooManyJobs(SessionsError):
    """The tenant has as many jobs that are not over as it may have; `retry_after_s` says when to look again."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"{limit} jobs are not over yet; no more are taken at once")
        self.limit = limit
        self.retry_after_s = 30.0


class TooManyQuestions(SessionsError):
    """One job takes only so many questions."""

    def __init__(self, *, count: int, limit: int) -> None:
        super().__init__(f"{count} questions are more than the {limit} that one job takes")
        self.limit = limit


class TurnNotFound(SessionsError):
    """The session has no turn of this number."""


class ReviewNotFound(SessionsError):
    """In this tenant there is no such turn in which moderation found something."""


class DrillNotFound(SessionsError):
    """There is no such drill for this tenant."""


class DrillInvalid(SessionsError):
    """The drill cannot be held, or the session cannot take part in it; `field` says where, the message why."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field = field
        self.detail = detail


class DrillClosed(SessionsError):
    """No new session begins in the drill: it is cancelled, archived or over."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the drill is {reason}")
        self.reason = reason


class DrillMoved(SessionsError):
    """Somebody else has changed the drill meanwhile; nothing was written."""


class SeriesNotFound(SessionsError):
    """There is no such series of drills for this tenant."""


class ClassFileInvalid(SessionsError):
    """A file of classes cannot be imported; `faults` are all reasons, each with its place. Nothing was written."""

    def __init__(self, faults: Sequence[tuple[str, str]]) -> None:
        super().__init__(f"the file has {len(faults)} faults")
        self.faults = tuple(faults)


class ScenarioInvalid(SessionsError):
    """The scenario could never be played; `field` says where, the message why."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field = field
        self.detail = detail


class KnowledgeBaseNotFound(SessionsError):
    """There is no such knowledge base for this tenant."""


class DocumentNotFound(SessionsError):
    """There is no such document in this knowledge base."""


class KnowledgeInvalid(SessionsError):
    """A knowledge base or a document cannot be written like this; `field` says where, the message why."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(detail)
        self.field = field
        self.detail = detail


class KnowledgeBaseExists(SessionsError):
    """The tenant has a knowledge base of this name, with another guidance."""


class KnowledgeBaseFull(SessionsError):
    """The document would give the base more chunks than one may have."""

    def __init__(self, *, chunks: int, limit: int) -> None:
        super().__init__(f"the knowledge base would have {chunks} chunks; the limit is {limit}")
        self.chunks = chunks
        self.limit = limit


class DocumentUnreadable(SessionsError):
    """A document from which no text can be taken; `reason` is stable, the message tells people."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


class DocumentBlocked(SessionsError):
    """Moderation stops what stands in this chunk of a document; the findings name the rules, never the words."""

    def __init__(self, reason: str, *, chunk: int, findings: list[dict[str, str]]) -> None:
        super().__init__(f"moderation stops what stands in chunk {chunk}: {reason}")
        self.reason = reason
        self.chunk = chunk
        self.findings = findings


class SceneUnknown(SessionsError):
    """The scenario has no scene of this name."""

    def __init__(self, *, known: Sequence[str]) -> None:
        super().__init__(f"the scenario has no scene of this name; there are {', '.join(known)}")
        self.field = "scene"
        self.detail = str(self)


class TextRefused(SessionsError):
    """The trainee's message cannot be a turn."""


class TextEmpty(TextRefused):
    """There is nothing in it but white space."""


class TextTooLong(TextRefused):
    """It has more tokens than one message may have."""

    def __init__(self, *, tokens: int, limit: int) -> None:
        super().__init__(f"the message has {tokens} tokens; the limit is {limit}")
        self.tokens = tokens
        self.limit = limit


class SessionClosed(SessionsError):
    """A closed session takes no turns."""


class TurnLimitReached(SessionsError):
    """The scenario allows no further turn."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"the scenario allows {limit} turns")
        self.limit = limit


class SessionBusy(SessionsError):
    """Another turn of this session runs now; `retry_after_s` says when to try again."""

    def __init__(self, *, retry_after_s: float) -> None:
        super().__init__("another turn of this session is running")
        self.retry_after_s = retry_after_s


class SessionMoved(SessionsError):
    """Somebody else changed the session meanwhile; nothing was written."""


class IdempotencyKeyReused(SessionsError):
    """The key was used before, with another content."""

    def __init__(self) -> None:
        super().__init__("the idempotency key was used before, with another content")


class IllegalTransition(SessionsError):
    """The session or the drill cannot take this event in its state."""

    def __init__(self, state: str, event: str) -> None:
        super().__init__(f"it is {state} and takes no {event}")
        self.state = state
        self.event = event


class ContextImpossible(SessionsError):
    """Window, reply and blocks do not fit together; the message holds the arithmetic."""


class TutorError(SessionsError):
    """The tutor could not answer."""


class TutorUnavailable(TutorError):
    """Nobody can answer now; nothing was generated. `retry_after_s` says when to try again."""

    def __init__(self, detail: str, *, retry_after_s: float) -> None:
        super().__init__(detail)
        self.retry_after_s = retry_after_s


class TutorFull(TutorUnavailable):
    """Everybody who could answer is busy, and the wait for one of them was in vain."""


class TutorAbsent(TutorUnavailable):
    """Nobody is there who could be asked; it is no fault of the request."""


class PoolUnavailable(TutorUnavailable):
    """The model that this work is bound to has no replica now, and no other may stand in for it."""

    def __init__(self, *, tier: str, model: str, retry_after_s: float) -> None:
        super().__init__(
            f"the model {model!r}, which {tier} is bound to, has no replica now", retry_after_s=retry_after_s
        )
        self.tier = tier
        self.model = model


class TutorRejected(TutorError):
    """The tutor found the request itself wrong; trying again will not help."""


class TutorBroke(TutorError):
    """The reply began and did not end as a reply must."""


class TurnLockUnavailable(SessionsError):
    """The store of the turn locks cannot be asked now."""


class ModerationUnavailable(SessionsError):
    """The rules that are in force cannot be told now, and nothing goes on unchecked."""


class RecordsUnavailable(SessionsError):
    """The database cannot be asked now. Whether a commit that was cut off took effect, nobody knows until it can."""


class IndexFaulty(SessionsError):
    """The index of a knowledge base cannot be built, by a fault of ours that has been logged."""


class ValueUnstorable(SessionsError):
    """The database cannot hold a value, such as a text with a NUL; inputs are checked before they get so far."""

    def __init__(self) -> None:
        super().__init__("the database cannot hold this value")


class TokenizerUnusable(SessionsError):
    """The model folder holds no tokenizer and chat template that can be used; the message says what is wrong."""
