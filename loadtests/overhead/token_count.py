"""Counts a chat's tokens as a real replica does at `/tokenize`: a gateway refuses replicas that count otherwise."""

import json
from collections.abc import Callable
from pathlib import Path

from loadtests.simulator.domain.replies import Said
from loadtests.simulator.vocabulary import FolderVocabulary


def token_count(folder: Path) -> Callable[[bytes], int]:
    """Counts what the body of such a request holds, by the tokenizer and the chat template of a model's folder."""
    vocabulary = FolderVocabulary(folder)

    def count(body: bytes) -> int:
        asked = json.loads(body)
        said = [Said(each["role"], each["content"]) for each in asked["messages"]]
        return len(vocabulary.encode(vocabulary.render(said, for_reply=asked.get("add_generation_prompt", True))))

    return count
