"""Knows what a reviewer's decision changes in a phrase list, and what keeps it from doing so."""

from dataclasses import replace
from typing import assert_never

from gateway.domain.moderation.fault_words import told
from gateway.domain.moderation.folding import EDGE, Folding
from gateway.domain.moderation.normalise import normalise
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import MOST_PHRASES, Action, Fault, PhraseList, Reason, Spelling
from gateway.domain.moderation.release import moderate
from gateway.domain.moderation.talking_points import phrase_fault
from sessions.domain.review import ChangeKind, ListChange


def amended(said: PhraseList, change: ListChange) -> PhraseList:
    """The list with the change; itself where it is so already."""
    match change.kind:
        case ChangeKind.ALLOW:
            if change.subject in said.allowed:
                return said
            return replace(said, allowed=(*said.allowed, change.subject))
        case ChangeKind.REMOVE_RULE:
            return replace(said, phrases=tuple(phrase for phrase in said.phrases if phrase.id != change.subject))
        case never:
            assert_never(never)


def amendment_fault(said: PhraseList, change: ListChange) -> str | None:
    """Why it cannot be done; None: it can."""
    match change.kind:
        case ChangeKind.ALLOW:
            fault = phrase_fault(change.subject)
            if fault is None and len(said.phrases) + len(said.allowed) >= MOST_PHRASES:
                fault = Fault(Reason.TOO_MANY, MOST_PHRASES)
            return None if fault is None else told([fault])[0][1]
        case ChangeKind.REMOVE_RULE:
            is_there = any(phrase.id == change.subject for phrase in said.phrases)
            return None if is_there else "the list has no such rule"
        case never:
            assert_never(never)


def pardons(said: PhraseList, allowed: str) -> bool:
    """Whether a phrase of the list stands within this one and is shorter, so that allowing this changes anything."""
    folding = Folding()
    letters = {EDGE, *normalise(allowed, folding).text}
    near = tuple(
        replace(phrase, action=Action.FLAG)  # a block would end the text
        for phrase in said.phrases
        if phrase.spelling is not Spelling.PLAIN or letters.issuperset(normalise(phrase.text, folding).text)
    )
    lists = replace(said, phrases=near, allowed=()), replace(said, phrases=near, allowed=(allowed,))
    found, left = (moderate(allowed, PhraseBook([each])).findings for each in lists)
    return len(left) < len(found)
