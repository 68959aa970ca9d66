"""Generate one item of a job: an answer, or a summary that answers are made from.

It asks the tutor as background work that gives way to trainees. What belongs to one knowledge base goes to one replica
as far as that has room, since its prompts begin alike.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
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
from sessions.domain.scenario import ScenarioId
from sessions.domain.session import SessionId
from sessions.domain.tiers import Chosen, Tier
from sessions.errors import (
    DocumentNotFound,
    KnowledgeBaseNotFound,
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
from sessions.ports import Asker, Piece, ReplyEnd, Tiers, Tutor, TutorRequest

_MOST_BASES = 1024

_GONE_BASE = ItemError("knowledge_base_not_found", "the knowledge base was deleted before this was answered")
_GONE_DOCUMENT = ItemError("document_not_found", "the document was deleted or replaced before this was answered")
_EMPTY = ItemError("text_empty", "the question is empty")
_REJECTED = ItemError("tutor_rejected", "the model server refused the request")
_NO_REPLICA = ItemError("no_replica", "no replica could answer, however often it was tried")
_BROKE = ItemError("tutor_broke", "the answer broke off, however often it was tried")
_BLANK = ItemError("answer_empty", "the model answered nothing, however often it was tried")


@dataclass(frozen=True, slots=True)
class KnowledgeSources:
    catalogue: Catalogue
    shelf: Shelf
    search: SureSearch


@dataclass(frozen=True, slots=True)
class _Asked:
    """A prompt that is ready, and what stands in it."""

    prompt: AnswerPrompt
    citations: tuple[Citation, ...] = ()


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
    ) -> None:
        self._sources = sources
        self._queue = queue
        self._tutor = tutor
        self._tiers = tiers
        self._writers = writers
        self._warm: dict[KnowledgeBaseId, str] = {}

    async def __call__(self, claim: Claim) -> Outcome:
        """Raises `RecordsUnavailable` alone; whoever cancels it stops the generation down to the engine."""
        try:
            return await self._generate(claim)
        except KnowledgeBaseNotFound:
            return Doomed(_GONE_BASE)
        except DocumentNotFound:
            return Doomed(_GONE_DOCUMENT)
        except TextEmpty:
            return Refused(_EMPTY)
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
        asked = await self._asked(claim, base, writer)
        text, reason = await self._reply(_request(claim, base, asked.prompt, chosen, writer, self._warm.get(base.id)))
        if not text.strip():
            return Troubled(_BLANK)
        return Answered(Answer(text, reason, chosen.model, chosen.tier, chosen.fell_back, asked.citations))

    async def _asked(self, claim: Claim, base: KnowledgeBase, writer: AnswerWriter) -> _Asked:
        document = await self._document(claim)
        if claim.plan.kind is ItemKind.SUMMARY:
            assert document is not None  # noqa: S101 - only jobs on a document have summaries
            return _Asked(writer.summary(await self._stretch(claim, document)))
        question = claim.plan.text
        budget = writer.room(base.guidance, question)
        if document is None:
            search = self._sources.search
            found = await search.find_surely(claim.tenant, claim.base, question, budget_tokens=budget)
        else:
            found = await self._from_document(claim, document, writer, budget)
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

    async def _from_document(self, claim: Claim, document: Document, writer: AnswerWriter, budget: int) -> Background:
        chunks, layers = await self._chunks(claim), claim.plan.layer - 1
        overview, chapters = None, []
        if layers:
            (top,) = await self._queue.layer(claim.place.job, layers, first=1, last=1)
            overview = _as_chunk(top, document)
        if layers > 1:
            every = await self._queue.layer(claim.place.job, 1, first=1, last=document.chunk_count)
            chapters = [_as_chunk(item, document) for item in every]
        # Comparing a whole book with a question would hold up every turn of the process.
        return await asyncio.to_thread(
            writer.from_document, claim.plan.text, overview, [*chapters, *chunks], budget=budget
        )

    async def _chunks(self, claim: Claim, *, first: int = 1, last: int | None = None) -> list[Chunk]:
        assert claim.document is not None  # noqa: S101 - asked for after the document was found
        shelf = self._sources.shelf
        found = await shelf.chunks_of(claim.tenant, claim.base, claim.document, first=first, last=last)
        if not found:
            raise DocumentNotFound("the document is gone")
        return list(found)

    async def _reply(self, request: TutorRequest) -> tuple[str, str]:
        """The text and why it ended."""
        pieces: list[str] = []
        async with self._tutor.reply(request) as reply:
            async for item in reply.items:
                match item:
                    case Piece(text):
                        pieces.append(text)
                    case ReplyEnd(reason):
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
