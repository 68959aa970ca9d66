"""Lets a text go as soon as it is certain to be free of banned phrases, and not a character before.

What it decides depends on the text alone, character by character, never on how it was cut: a whole text is a stream of
one piece. The first banned phrase that is complete ends the text where it starts. What is masked is replaced as one
where it overlaps.
"""

from collections.abc import Sequence

from gateway.domain.moderation.held_text import HeldText
from gateway.domain.moderation.matching import Matcher
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import Action
from gateway.domain.moderation.readings import Hit
from gateway.domain.moderation.verdict import Finding, Released, Verdict, finding

MASK = "***"


class ReleaseFilter:
    """One stream: `feed` it pieces and then `finish` it; what both release, in this order, is what may leave."""

    def __init__(self, book: PhraseBook, *, mask: str = MASK) -> None:
        self._rules = book.rules
        self._mask = mask
        self._text = HeldText()
        self._matcher = Matcher(book, self._text)
        self._waiting: list[Hit] = []
        """Found, but an allowed phrase around them may not be over yet."""
        self._masked: list[tuple[int, int]] = []
        self.blocked: Finding | None = None

    @property
    def held(self) -> int:
        """How many characters came and did not leave."""
        return self._text.end - self._text.start

    def feed(self, piece: str) -> Released:
        if self._is_blocked():
            return Released("", (), self.blocked)
        findings: list[Finding] = []
        came = self._text.end
        self._text.add(piece)
        take = self._matcher.take
        for at, raw in enumerate(piece, start=came):
            found = take(raw, at)
            if found or self._waiting:
                findings += self._settled(found)
                if self._is_blocked():
                    return self._last(findings)
        return Released(self._released(self._limit()), tuple(findings))

    def finish(self) -> Released:
        """The text is over: the rest of it, where that is not blocked."""
        if self._is_blocked():
            return Released("", (), self.blocked)
        findings = self._settled(self._matcher.finish(self._text.end), is_over=True)
        return self._last(findings)

    def _is_blocked(self) -> bool:
        return self.blocked is not None

    def _settled(self, found: Sequence[Hit], *, is_over: bool = False) -> list[Finding]:
        """What is certain of all that was found. What waits starts later, so that a block need not wait for it."""
        hits = [hit for hit in sorted([*self._waiting, *found], key=_order) if not self._matcher.is_pardoned(hit)]
        self._waiting = [hit for hit in hits if not is_over and self._matcher.may_be_pardoned(hit)]
        certain = hits[: len(hits) - len(self._waiting)]
        findings = [self._finding(hit) for hit in certain]
        self._masked += [(each.start, each.end) for each in findings if each.action is Action.MASK]
        self.blocked = next((each for each in findings if each.action is Action.BLOCK), None)
        return findings

    def _finding(self, hit: Hit) -> Finding:
        return finding(self._rules[hit.rule], hit.start, hit.end, self._text.between(hit.start, hit.end))

    def _limit(self) -> int:
        """Up to where all is certain."""
        undecided = self._matcher.undecided()
        limit = self._text.end if undecided is None else undecided
        if self._waiting:
            limit = min(limit, *(hit.start for hit in self._waiting))
        if not self._masked:
            return limit
        self._masked = _united(self._masked)
        # A mask that something may still be joined to waits for it.
        return next((start for start, end in self._masked if start < limit < end), limit)

    def _released(self, limit: int) -> str:
        if not self._masked:
            return self._let_go(limit)
        text, at = "", self._text.start
        for start, end in self._masked:
            if start < limit:
                text += self._text.between(at, start) + self._mask
                at = end
        self._masked = [mask for mask in self._masked if mask[0] >= limit]
        self._text.let_go(at)
        return text + self._let_go(limit)

    def _let_go(self, limit: int) -> str:
        if limit <= self._text.start:
            return ""
        self._matcher.forget(limit)
        return self._text.let_go(limit)

    def _last(self, findings: list[Finding]) -> Released:
        self._masked = _united(self._masked)
        limit = self._text.end if self.blocked is None else self.blocked.start
        return Released(self._released(limit), tuple(findings), self.blocked)


def moderate(text: str, book: PhraseBook, *, mask: str = MASK) -> Verdict:
    """A whole text."""
    release = ReleaseFilter(book, mask=mask)
    first = release.feed(text)
    last = release.finish()
    return Verdict(first.text + last.text, first.findings + last.findings, release.blocked)


def _order(hit: Hit) -> tuple[int, int, int]:
    return hit.start, -hit.end, hit.rule


def _united(masks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """In their order, with those that overlap as one."""
    united: list[tuple[int, int]] = []
    for start, end in sorted(masks):
        if united and start < united[-1][1]:
            united[-1] = united[-1][0], max(end, united[-1][1])
        else:
            united.append((start, end))
    return united
