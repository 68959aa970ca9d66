"""Pieces of documents as a model may be shown them: by the rules of now, which may be newer than the documents."""

from collections.abc import Sequence
from dataclasses import replace

from sessions.domain.knowledge import Chunk
from sessions.domain.moderation import Moderated
from sessions.moderation_ports import Rules
from sessions.remembered_verdicts import Reading, RememberedVerdicts


class KnowledgeScreen:
    """A piece that was looked at before costs next to nothing."""

    def __init__(self, verdicts: RememberedVerdicts) -> None:
        self._verdicts = verdicts

    async def found(self, rules: Rules, chunk: Chunk) -> Moderated:
        """What is said of all that is shown of the piece, together: its document's name, its headings and its text."""
        return await self._verdicts.of(rules, Reading.KNOWLEDGE, _whole(chunk))

    async def shown(self, rules: Rules, chunk: Chunk) -> Chunk | None:
        """The piece with its masks; None: it may not be shown, or masks do not suffice."""
        found = await self.found(rules, chunk)
        if found.blocked is not None:
            return None
        if found.text == _whole(chunk):
            return chunk
        name, heading, text = [
            (await self._verdicts.of(rules, Reading.KNOWLEDGE, each)).text
            for each in (chunk.document_name, chunk.heading, chunk.text)
        ]
        masked = replace(chunk, document_name=name, heading=heading, text=text)
        # What begins in one of them and ends in another is masked in none.
        return masked if (await self.found(rules, masked)).text == _whole(masked) else None

    async def all_shown(self, rules: Rules, chunks: Sequence[Chunk]) -> list[Chunk]:
        """Those that may be shown."""
        shown = [await self.shown(rules, chunk) for chunk in chunks]
        return [chunk for chunk in shown if chunk is not None]


def _whole(chunk: Chunk) -> str:
    return "\n".join(part for part in (chunk.document_name, chunk.heading, chunk.text) if part)
