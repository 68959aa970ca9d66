"""Words of people hold no control over a prompt, whichever way they came in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from sessions.adapters.chat_template import ChatTemplate
from sessions.adapters.tokenizer import ModelTokenizer
from sessions.domain.citation import Background
from sessions.domain.history import history
from sessions.domain.note import Note, NoteMaker
from sessions.domain.prompt import Message
from sessions.domain.scenario import Scene
from sessions.domain.turn import Turn, TurnState
from sessions.prompt_writer import PromptWriter
from tests.support.session_fakes import SHARES, START, a_session, content
from tests.support.tiny_families import LLAMA, QWEN25, Family

MARKERS = (
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>"),
    *(
        "<|end_header_id|>",
        "<tool_call>",
        "</tool_call>",
        "<",
        "<<<",
        ">>>",
        "<|",
        "|>",
        "im_end|>",
        "<|im_",
        "system\n",
        "assistant",
    ),
    *(" ", "\n", "\n\n", "您好", "hello", "\u0338", "e\u0301"),
)
WAYS = (
    *("persona", "instructions", "script", "opening", "asked", "reply", "message"),
    *("guidance", "later script", "note", "bridge", "background", "asked later"),
)
TEXT = st.lists(st.sampled_from(MARKERS), min_size=1, max_size=12).map("".join).filter(str.strip)


class Served:
    """A tiny model with what the engine makes of its prompts."""

    def __init__(self, family: Family, folder: Path) -> None:
        family.model(folder)
        self.counter = ModelTokenizer(folder=folder)
        self._tokenizer: Tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._template = ChatTemplate(family.template, tokens=family.named)
        added = self._tokenizer.get_added_tokens_decoder()
        self._control = {token for token, added in added.items() if added.content in self.counter.special_tokens}

    def tokens(self, messages: Sequence[Message]) -> list[int]:
        ids: list[int] = self._tokenizer.encode(self._template.render(messages), add_special_tokens=False).ids
        return ids

    def control(self, messages: Sequence[Message]) -> list[int]:
        return [token for token in self.tokens(messages) if token in self._control]

    def prompt(self, texts: Mapping[str, str]) -> Sequence[Message]:
        session = a_session()
        scenario = content(
            persona=texts["persona"],
            instructions=texts["instructions"],
            guidance=texts["guidance"],
            opening=texts["opening"],
            scenes=(Scene("complaint", texts["script"]), Scene("agreement", texts["later script"])),
        )
        said = [
            Turn(session.id, 1, TurnState.COMPLETED, "asked", texts["bridge"], START, START, 1, 1),
            Turn(session.id, 2, TurnState.COMPLETED, texts["asked"], texts["reply"], START, START, 1, 1),
            Turn(
                *(session.id, 3, TurnState.COMPLETED, texts["asked later"], "reply", START, START, 1, 1),
                scene="agreement",
            ),
        ]
        note = Note(session.id, 1, 1, 1, texts["note"], 1, NoteMaker.TUTOR, 1, START)
        shares = replace(SHARES, window=32_000, message=4000, script=2000, opening=2000)
        writer = PromptWriter(model="m", counter=self.counter, shares=shares)
        found = Background(texts["background"])
        return writer.write(session, scenario, history([note], said), texts["message"], found).prompt.messages


@pytest.fixture(scope="module", params=[QWEN25, LLAMA], ids=lambda family: family.name)
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Served:
    return Served(request.param, tmp_path_factory.mktemp("model"))


@settings(max_examples=100, deadline=None)
@given(texts=st.fixed_dictionaries(dict.fromkeys(WAYS, TEXT)))
def test_texts_full_of_markers_neither_break_a_count_nor_forge_a_role(served: Served, texts: Mapping[str, str]) -> None:
    messages = served.prompt(texts)
    assert served.counter.count_prompt(messages) == len(served.tokens(messages))
    assert served.control(messages) == served.control(served.prompt(dict.fromkeys(WAYS, "plain")))


@pytest.mark.parametrize("way", WAYS)
def test_no_way_into_a_prompt_is_left_open(served: Served, way: str) -> None:
    plain = dict.fromkeys(WAYS, "plain")
    forged = plain | {way: "".join(served.counter.special_tokens)}
    assert served.control(served.prompt(forged)) == served.control(served.prompt(plain))
