"""Generate one item of a job: an answer, or a summary that answers are made from.

It asks the tutor as background work that gives way to trainees. Question, background and answer are checked by the
tenant's rules as in a turn; a block ends the item, and the engine's work on it at once. What belongs to one knowledge
base goes to one replica as far as that has room, since its prompts begin alike.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from sessions.answer_writer import AnswerPrompt, AnswerWriter
from sessions.domain.citation import Background, Citation, KnowledgeBaseId
from sessions.domain.job import (
    Answer,
    Answered,
    Claim,
    Doomed,
    GivenBack,
    Item,
    ItemError,
    ItemKind,
    Outcome,
    Refused,
    Troubled,
)
from sessions.domain.knowledge import Chunk, Document, KnowledgeBase
from sessions.domain.moderation import BlockReason
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import SessionId
from sessions.domain.tiers import Chosen, Tier
from sessions.errors import (
    DocumentNotFound,
    KnowledgeBaseNotFound,
    ModerationUnavailable,
    PoolUnavailable,
    TextEmpty,
    TextTooLong,
    TutorAbsent,
    TutorBroke,
    TutorFull,
    TutorRejected,
    TutorUnavailable,
)
from sessions.job_ports import JobQueue, SureSearch
from sessions.knowledge_ports import Catalogue, Shelf
from sessions.knowledge_screen import KnowledgeScreen
from sessions.moderation_ports import Moderation, ReplyCheck, Rules
from sessions.ports import Asker, Piece, ReplyEnd, Tiers, Tutor, TutorRequest
from sessions.remembered_verdicts import RememberedVerdicts

_MOST_BASES = 1024

_GONE_BASE = ItemError("knowledge_base_not_found", "the knowledge base was deleted before this was answered")
_GONE_DOCUMENT = ItemError("document_not_found", "the document was deleted or replaced before this was answered")
_EMPTY = ItemError("text_empty", "the question is empty")
_REJECTED = ItemError("tutor_rejected", "the model server refused the request")
_NO_REPLICA = ItemError("no_replica", "no replica could answer, however often it was tried")
_BROKE = ItemError("tutor_broke", "the answer broke off, however often it was tried")
_BLANK = ItemError("answer_empty", "the model answered nothing, however often it was tried")
_ALL_BLOCKED = ItemError("document_blocked", "moderation stops all of the document that this is made from")
_RULES_AWAY_S = 1.0


@dataclass(frozen=True, slots=True)
class KnowledgeSources:
    catalogue: Catalogue
    shelf: Shelf
    search: SureSearch
    screen: KnowledgeScreen = field(default_factory=lambda: KnowledgeScreen(RememberedVerdicts()))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A prompt that is ready, and what stands in it."""

    prompt: AnswerPrompt
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class _Search:
    """For what a question is answered from, within one document."""

    question: str
    budget: int
    writer: AnswerWriter
    rules: Rules


class _Blocked(Exception):
    """Moderation stops what the item is made of, or what was made."""

    def __init__(self, error: ItemError) -> None:
        super().__init__(error.code)
        self.error = error


class GenerateItem:
    """`writers` has every model that `tiers` may name."""

    def __init__(
        self,
        *,
        sources: KnowledgeSources,
        queue: JobQueue,
        tutor: Tutor,
        tiers: Tiers,
        writers: Mapping[str, AnswerWriter],
        moderation: Moderation,
    ) -> None:
        self._sources = sources
        self._queue = queue
        self._tutor = tutor
        self._tiers = tiers
        self._writers = writers
        self._moderation = moderation
        self._warm: dict[KnowledgeBaseId, str] = {}

    async def __call__(self, claim: Claim) -> Outcome:
        """Raises `RecordsUnavailable` alone; whoever cancels it stops the generation down to the engine."""
        try:
            return await self._generate(claim)
        except (KnowledgeBaseNotFound, DocumentNotFound) as error:
            return Doomed(_GONE_DOCUMENT if isinstance(error, DocumentNotFound) else _GONE_BASE)
        except TextEmpty:
            return Refused(_EMPTY)
        except _Blocked as blocked:
            return Refused(blocked.error)
        except ModerationUnavailable:
            return GivenBack(_RULES_AWAY_S)
        except TextTooLong as error:
            return Refused(
                ItemError("text_too_long", f"{error.tokens} tokens are more than the limit of {error.limit}")
            )
        except (TutorFull, TutorUnavailable, TutorBroke, TutorRejected) as error:
            return _tutor_trouble(error)

    async def _generate(self, claim: Claim) -> Outcome:
        base = await self._sources.catalogue.base(claim.tenant, claim.base)
        if base is None:
            raise KnowledgeBaseNotFound("the knowledge base is gone")
        chosen = await self._tiers.choose(Tier.FAQ, claim.tenant, {})
        writer = self._writers[chosen.model]
        rules = await self._moderation.rules(claim.tenant)
        claim = await _checked(claim, rules)
        asked = await self._asked(claim, base, writer, rules)
        request = _request(claim, base, asked.prompt, chosen, writer, self._warm.get(base.id))
        async with rules.reply(claim.plan.text) as check:
            text, reason = await self._reply(request, check)
        if not text.strip():
            return Troubled(_BLANK)
        return Answered(Answer(text, reason, chosen.model, chosen.tier, chosen.fell_back, asked.citations))

    async def _asked(self, claim: Claim, base: KnowledgeBase, writer: AnswerWriter, rules: Rules) -> _Asked:
        document = await self._document(claim)
        if claim.plan.kind is ItemKind.SUMMARY:
            assert document is not None  # noqa: S101 - only jobs on a document have summaries
            pieces = await self._sources.screen.all_shown(rules, await self._stretch(claim, document))
            if not pieces:
                raise _Blocked(_ALL_BLOCKED)
            return _Asked(writer.summary(pieces))
        question = claim.plan.text
        budget = writer.room(base.guidance, question)
        if document is None:
            search = self._sources.search
            found = await search.find_surely(claim.tenant, claim.base, question, budget_tokens=budget, rules=rules)
        else:
            overview, pieces = await self._pieces(claim, document)
            found = await self._nearest(_Search(question, budget, writer, rules), overview, pieces)
        return _Asked(writer.question(base.guidance, question, found), found.citations)

    async def _document(self, claim: Claim) -> Document | None:
        if claim.document is None:
            return None
        found = await self._sources.catalogue.document(claim.tenant, claim.base, claim.document)
        if found is None:
            raise DocumentNotFound("the document is gone")
        return found

    async def _stretch(self, claim: Claim, document: Document) -> list[Chunk]:
        """What a summary is made of: chunks, or summaries of the layer below."""
        plan = claim.plan
        if plan.layer == 1:
            return await self._chunks(claim, first=plan.first, last=plan.last)
        below = await self._queue.layer(claim.place.job, plan.layer - 1, first=plan.first, last=plan.last)
        return [_as_chunk(item, document) for item in below]

    async def _pieces(self, claim: Claim, document: Document) -> tuple[Chunk | None, list[Chunk]]:
        """The overview of a long document, and all that it has to say."""
        chunks, layers = await self._chunks(claim), claim.plan.layer - 1
        overview, chapters = None, []
        if layers:
            (top,) = await self._queue.layer(claim.place.job, layers, first=1, last=1)
            overview = _as_chunk(top, document)
        if layers > 1:
            every = await self._queue.layer(claim.place.job, 1, first=1, last=document.chunk_count)
            chapters = [_as_chunk(item, document) for item in every]
        return overview, [*chapters, *chunks]

    async def _nearest(self, search: _Search, overview: Chunk | None, pieces: list[Chunk]) -> Background:
        """Only what is about to be shown is looked at; where that changes anything, another choice may be better."""
        if overview is not None:
            overview = await self._sources.screen.shown(search.rules, overview)
        fit = {overview}
        while True:
            # Comparing a whole book with a question would hold up every turn of the process.
            found = await asyncio.to_thread(
                search.writer.nearest, search.question, overview, pieces, budget=search.budget
            )
            if not (unseen := [piece for piece in found.shown if piece not in fit]):
                return search.writer.background(found)
            seen = {piece: await self._sources.screen.shown(search.rules, piece) for piece in unseen}
            fit |= set(seen.values())
            changed = [seen.get(piece, piece) for piece in pieces]
            pieces = [piece for piece in changed if piece is not None]

    async def _chunks(self, claim: Claim, *, first: int = 1, last: int | None = None) -> list[Chunk]:
        assert claim.document is not None  # noqa: S101 - asked for after the document was found
        shelf = self._sources.shelf
        found = await shelf.chunks_of(claim.tenant, claim.base, claim.document, first=first, last=last)
        if not found:
            raise DocumentNotFound("the document is gone")
        return list(found)

    async def _reply(self, request: TutorRequest, check: ReplyCheck) -> tuple[str, str]:
        """The text and why it ended."""
        pieces: list[str] = []
        async with self._tutor.reply(request) as reply:
            async for item in reply.items:
                match item:
                    case Piece(text):
                        pieces.append(check.feed(text))
                        _stop_if_blocked(check)
                    case ReplyEnd(reason):
                        pieces.append(await check.finish())
                        _stop_if_blocked(check)
                        self._remember(request, reply.replica)
                        return "".join(pieces), reason
                    case never:
                        assert_never(never)
        raise TutorBroke("the reply ended without an end")

    def _remember(self, request: TutorRequest, replica: str) -> None:
        base = KnowledgeBaseId(request.session)
        self._warm.pop(base, None)
        self._warm[base] = replica
        if len(self._warm) > _MOST_BASES:
            del self._warm[next(iter(self._warm))]


async def _checked(claim: Claim, rules: Rules) -> Claim:
    """With the question as it may be asked."""
    if claim.plan.kind is not ItemKind.QUESTION:
        return claim
    found = await rules.message(claim.plan.text)
    if found.blocked is not None:
        raise _stopped("question", found.blocked)
    return replace(claim, plan=replace(claim.plan, text=found.text))


def _stop_if_blocked(check: ReplyCheck) -> None:
    if (reason := check.judgement.blocked) is not None:
        raise _stopped("answer", reason)


def _stopped(what: str, reason: BlockReason) -> Exception:
    """What only could not be judged now is tried again."""
    if reason is BlockReason.UNCHECKED:
        return ModerationUnavailable(f"nobody can judge the {what} now")
    return _Blocked(ItemError(f"{what}_blocked", f"moderation stopped the {what}: {reason}"))


def _request(
    claim: Claim, base: KnowledgeBase, prompt: AnswerPrompt, chosen: Chosen, writer: AnswerWriter, warm: str | None
) -> TutorRequest:
    return TutorRequest(
        # To the router a base is what a session is: the key under which prompts that begin alike come together. A
        # background call never pins its key, so there is nothing to forget in the end.
        session=SessionId(base.id),
        tenant=claim.tenant,
        turn=claim.place.number,
        messages=prompt.messages,
        max_tokens=prompt.max_tokens,
        asker=Asker(ScenarioId(base.id), base.version, claim.asked_by, writer.window_tokens),
        last_replica=warm,
        model=chosen.model,
        name=f"{claim.plan.kind}-{claim.place.job}-{claim.place.layer}-{claim.attempt}",
        is_background=True,
    )


def _as_chunk(item: Item, document: Document) -> Chunk:
    """A summary in the shape of what it stands for."""
    text = "" if item.answer is None else item.answer.text
    return Chunk(document.id, document.name, item.plan.first, "", text, 0)


def _tutor_trouble(error: TutorUnavailable | TutorBroke | TutorRejected) -> Outcome:
    match error:
        case TutorFull() | TutorAbsent() | PoolUnavailable():
            # Replicas that are busy or being restarted are no fault of the question, which would be lost with three.
            return GivenBack(error.retry_after_s)
        case TutorUnavailable():
            return Troubled(_NO_REPLICA, error.retry_after_s)
        case TutorBroke():
            return Troubled(_BROKE)
        case TutorRejected():
            return Refused(_REJECTED)
