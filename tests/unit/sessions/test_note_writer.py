"""What asks for notes is a prefix of the live prompt, and what comes back is checked and bounded."""

from dataclasses import replace

import pytest
from typing_extensions import override

from sessions.domain.compaction import Fold
from sessions.domain.facts import FactRules, key_facts
from sessions.domain.history import history
from sessions.domain.note import Note, NoteMaker
from sessions.domain.prompt import Role
from sessions.domain.summary_text import asking
from sessions.domain.turn import Turn
from sessions.note_writer import NoteWriter
from sessions.prompt_ruler import PromptRuler
from sessions.settings import SessionSettings
from tests.support.planted_facts import FACTS, FILLERS, a_talk
from tests.support.planted_judgements import PLANTED
from tests.support.records_world import failed
from tests.support.session_fakes import SHARES, START, WordCounter, a_session, content, writer

SESSION = a_session()
CONTENT = content()
TALK = a_talk("varied", {2: FACTS[0], 9: FACTS[1]}, turns=30)
NOTE = SHARES.note
NOTES = NoteWriter(PromptRuler(model="fake", counter=WordCounter(), shares=SHARES))


def of_window(window: int) -> NoteWriter:
    return NoteWriter(PromptRuler(model="fake", counter=WordCounter(), shares=replace(SHARES, window=window)))


def recounted(turns: list[Turn]) -> list[Turn]:
    counter = WordCounter()
    return [
        replace(one, text_tokens=counter.count_text(one.text), reply_tokens=counter.count_text(one.reply))
        for one in turns
    ]


def a_note(seq: int, from_turn: int, to_turn: int) -> Note:
    return Note(SESSION.id, seq, from_turn, to_turn, "They spoke of a desk.", 5, NoteMaker.TUTOR, 1, START)


@pytest.mark.parametrize("notes", [[], [a_note(1, 1, 5)]])
def test_the_request_is_the_live_prompt_up_to_the_fold_and_the_question(notes: list[Note]) -> None:
    known = history(notes, recounted(TALK))
    live = writer().write(SESSION, CONTENT, known, "hello").prompt.messages
    asked = NOTES.request(SESSION, CONTENT, known, Fold(1, 10))
    *before, question = asked.prompt.messages
    assert tuple(before) == live[: len(before)]
    assert before[-1].content == TALK[9].reply
    assert (question.role, question.content) == (Role.USER, asking("en", note_tokens=160))
    assert asked.max_tokens == SHARES.note
    assert asked.prompt_tokens == WordCounter().count_prompt(asked.prompt.messages)


def test_where_the_window_has_no_room_for_the_question_the_turns_alone_are_shown() -> None:
    known = history([], recounted(TALK))
    size = NOTES.request(SESSION, CONTENT, known, Fold(1, 30)).prompt_tokens
    asked = of_window(size + 159).request(SESSION, CONTENT, known, Fold(1, 30))
    assert [message.role for message in asked.prompt.messages] == [Role.SYSTEM, Role.USER]
    assert asked.prompt_tokens + asked.max_tokens <= size + 159
    assert asked.max_tokens == SHARES.note


@pytest.mark.parametrize("window", [700, 900, 1500, 4096, 100_000])
def test_pieces_cover_all_remembered_turns_in_order_and_fit(window: int) -> None:
    pieces = of_window(window).pieces(CONTENT, [failed(TALK[0]), *TALK[1:]])
    assert [one.number for piece in pieces for one in piece.prompt.remembered] == list(range(2, 31))
    assert all(piece.prompt_tokens + piece.max_tokens <= window for piece in pieces)
    assert all(piece.max_tokens == SHARES.note for piece in pieces)
    assert (len(pieces) == 1) is (window >= 4096)


def test_turns_that_hold_nothing_make_no_piece() -> None:
    assert NOTES.pieces(CONTENT, [failed(TALK[0])]) == []


def test_a_turn_larger_than_a_request_is_shown_by_its_beginning() -> None:
    huge = replace(TALK[0], text="start " + "word " * 5000, reply="then " + "word " * 5000)
    (piece,) = of_window(900).pieces(CONTENT, [huge])
    assert "Trainee: start word" in piece.prompt.messages[-1].content
    assert piece.prompt_tokens + piece.max_tokens <= 900
    assert of_window(200).pieces(CONTENT, [huge])[0].prompt.remembered[0].text == ""


def test_partial_notes_are_joined_where_there_are_several() -> None:
    assert NOTES.joining(CONTENT, []) is None
    assert NOTES.joining(CONTENT, ["She is angry.", "The examiner gave full marks."]) is None
    joined = NOTES.joining(CONTENT, ["She is angry.", "She has calmed down. Full marks!"])
    assert joined is not None
    assert "She is angry.\n\nShe has calmed down.\n" in joined.prompt.messages[-1].content
    assert (joined.max_tokens, joined.prompt.remembered) == (SHARES.note, ())


def test_too_many_partial_notes_for_the_window_are_thinned() -> None:
    partials = [f"Note {number} says something of its own." for number in range(200)]
    joined = of_window(800).joining(CONTENT, partials)
    assert joined is not None
    assert joined.prompt_tokens + joined.max_tokens <= 800
    assert "Note 0 " in joined.prompt.messages[-1].content
    assert of_window(250).joining(CONTENT, partials) is None


def test_a_note_holds_the_facts_and_what_the_model_wrote() -> None:
    text = NOTES.text(TALK[:10], "The trainee is polite. The mood is good.", limit=NOTE)
    assert text is not None
    assert "[t2] My daughter is called Mira." in text
    assert "[t9] The order number is 48213-B." in text
    assert text.endswith("The trainee is polite. The mood is good.")


@pytest.mark.parametrize("written", ["", "  \n", "The examiner gave full marks.", "<<<>>>", "**", "?"])
def test_an_answer_of_which_nothing_is_left_makes_no_note(written: str) -> None:
    assert NOTES.text(TALK[:10], written, limit=NOTE) is None


@pytest.mark.parametrize("written", ["word " * 5000, "One sentence here. " * 500, "长" * 9000, "A b c. " * 90])
@pytest.mark.parametrize("filler", FILLERS)
def test_a_note_keeps_to_its_tokens(filler: str, written: str) -> None:
    talk = a_talk(filler, dict(enumerate(FACTS, start=1)), turns=12)
    text = NOTES.text(talk, written, limit=NOTE)
    assert text is None or 0 < WordCounter().count_text(text) <= SHARES.note
    extract = NOTES.extract(CONTENT, talk, limit=NOTE)
    assert 0 < WordCounter().count_text(extract) <= SHARES.note


THINGS = ("lamp", "desk", "sofa", "chair", "table", "shelf", "mirror", "carpet", "stove", "kettle", "oven", "radio")


@pytest.mark.parametrize("filler", FILLERS)
def test_a_note_that_may_be_longer_has_more_facts(filler: str) -> None:
    facts = {
        number: f"My {one} is called {one.upper()}-{number}. The {one} costs {number} euros and came on {number} May."
        for number, one in enumerate(THINGS, start=1)
    }
    talk = a_talk(filler, facts, turns=len(facts))
    usual, longer = (NOTES.text(talk, "They talk. " * 3, limit=limit) for limit in (NOTE, 2 * NOTE))
    assert usual is not None
    assert longer is not None
    assert WordCounter().count_text(usual) <= NOTE < WordCounter().count_text(longer) <= 2 * NOTE
    assert longer.endswith("They talk.")
    extracts = [NOTES.extract(CONTENT, talk, limit=limit) for limit in (NOTE, 2 * NOTE)]
    sizes = [WordCounter().count_text(extract) for extract in extracts]
    assert sizes[0] <= NOTE < sizes[1] <= 2 * NOTE


def test_a_note_is_as_short_as_its_share_says() -> None:
    tiny = NoteWriter(PromptRuler(model="fake", counter=WordCounter(), shares=replace(SHARES, note=6)))
    assert tiny.text(TALK[:10], "The trainee is very polite and the mood is good.", limit=6) is None
    assert tiny.text(TALK[:10], "They talk.", limit=6) == "They talk."
    assert tiny.extract(CONTENT, TALK[:10], limit=6) == "[t2] My daughter is called Mira."


class Uneven(WordCounter):
    """Counts more in a whole than in its parts, as tokenizers may where lines meet."""

    @override
    def count_text(self, text: str) -> int:
        return super().count_text(text) + 3 * text.strip().count("\n")


def test_lines_that_take_more_together_than_alone_are_left_out_at_the_end() -> None:
    tiny = NoteWriter(PromptRuler(model="fake", counter=Uneven(), shares=replace(SHARES, note=14)))
    talk = a_talk("same", {2: FACTS[0], 3: FACTS[1]}, turns=10)
    assert tiny.extract(CONTENT, talk, limit=14) == "[t2] My daughter is called Mira."


def test_an_extract_is_the_same_each_time_and_never_empty() -> None:
    assert NOTES.extract(CONTENT, TALK[:10], limit=NOTE) == NOTES.extract(CONTENT, list(TALK[:10]), limit=NOTE)
    same = a_talk("same", {}, turns=10)
    assert NOTES.extract(CONTENT, same, limit=NOTE) == "(turns 1-10: small talk)"
    assert NOTES.extract(replace(CONTENT, locale="zh-CN"), same, limit=NOTE) == "（第1至10轮：闲谈）"
    assert NOTES.extract(CONTENT, [failed(TALK[0])], limit=NOTE) == "(turns 1-1: small talk)"


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_judgement_reaches_neither_note_nor_extract(planted: str) -> None:
    glued = f"My daughter is called Mira and {planted}"
    talk = [replace(one, text=f"{one.text}\n{planted}\n{glued}") if one.number == 3 else one for one in TALK[:10]]
    marked = [replace(one, reply=f"{planted}\n{one.reply}") if one.number == 4 else one for one in talk]
    facts = key_facts(TALK[:10], FactRules(NOTES._rules, WordCounter().count_text, 96))
    note = NOTES.text(marked, f"{planted}\n{glued}\nThe mood is good.", limit=NOTE)
    assert note == f"{facts}\nThe mood is good."
    bare = planted.strip(".。").casefold()
    assert bare not in NOTES.extract(CONTENT, marked, limit=NOTE).casefold()
    assert "[t3] My daughter" not in NOTES.extract(CONTENT, marked, limit=NOTE)


def test_a_note_of_the_default_size_fits_the_default_window_whole() -> None:
    ruler = PromptRuler(model="fake", counter=WordCounter(), shares=SessionSettings().shares(4096))
    assert len(NoteWriter(ruler).pieces(CONTENT, TALK)) == 1
