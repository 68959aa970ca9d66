"""Knows the talking points of an outline as one thing to match with: a text is read once, however many there are."""

from collections.abc import Sequence

from gateway.domain.moderation.folding import Folding
from gateway.domain.moderation.normalise import normalise
from gateway.domain.moderation.phrase_book import PhraseBook
from gateway.domain.moderation.phrases import Action, Fault, Phrase, PhraseList, faults
from gateway.domain.moderation.release import moderate

_LIST = "outline"
_FOLDING = Folding()
"""Shared, since looking at a single phrase would cost less than making one."""


class TalkingPoints:
    """Points by their names and phrases. A phrase may stand for several of them."""

    def __init__(self, points: Sequence[tuple[str, Sequence[str]]]) -> None:
        self._names = [name for name, _ in points]
        meant: dict[str, tuple[str, set[str]]] = {}
        for name, phrases in points:
            for text in phrases:
                meant.setdefault(normalise(text, _FOLDING).text, (text, set()))[1].add(name)
        self._points = {str(number): named for number, (_, named) in enumerate(meant.values())}
        rules = [
            Phrase(str(number), text, _LIST, action=Action.FLAG) for number, (text, _) in enumerate(meant.values())
        ]
        self._book = PhraseBook([PhraseList(_LIST, 1, tuple(rules))])

    def made(self, text: str) -> tuple[str, ...]:
        """The names of those that the text makes, in their order."""
        found: set[str] = set()
        for each in moderate(text, self._book).findings:
            found |= self._points[each.rule]
        return tuple(name for name in self._names if name in found)


def phrase_fault(text: str) -> Fault | None:
    """What keeps a text from being one of a point's phrases: what keeps it from being one of a list's."""
    return next(iter(faults(PhraseList(_LIST, 1, allowed=(text,)), _FOLDING)), None)
