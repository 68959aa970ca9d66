"""However often a replica is lost, the caller gets the undisturbed reply, once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from router.domain.exchange import CallPath
from router.domain.relay import Relay
from tests.support.deterministic_engine import DeterministicEngine
from tests.support.relayed_reply import Reply, chat, completion, relayed, undisturbed

USAGE = {"stream_options": {"include_usage": True}}
MANY_BYTES = "你好，世界！🙂👩‍👩‍👧 Grüß Gott — 在".encode()
words = st.text(
    st.one_of(
        st.sampled_from([*'ab \n\t."\\{}[]:,#', "é", "好", "\u0301", "\u200d", "😀", "\u2028", "\ufffd"]),
        st.characters(exclude_categories=["Cs"]),
    ),
    min_size=1,
    max_size=4,
)
cuts = st.lists(st.floats(0, 0.999), max_size=4)


@st.composite
def byte_pieces(draw: st.DrawFn) -> list[bytes]:
    """Tokens that cut characters anywhere."""
    reply = "".join(draw(st.lists(words, min_size=1, max_size=12))).encode()
    places = sorted(draw(st.sets(st.integers(1, len(reply)), max_size=len(reply))) | {len(reply)})
    return [reply[begin:end] for begin, end in zip([0, *places], places, strict=False)]


def whole_pieces() -> st.SearchStrategy[list[bytes]]:
    return st.lists(words.map(str.encode), min_size=1, max_size=20)


def is_the_same(got: Reply, meant: Reply, *, with_usage: bool = True) -> None:
    assert got.stuck == ""
    assert got.text == meant.text
    assert got.finish == meant.finish
    assert got.dones == 1
    assert len(got.heads) == 1
    assert len(got.comments) == got.continued
    if with_usage:
        assert got.usage == meant.usage
    assert got.roles == meant.roles


@settings(max_examples=150)
@given(byte_pieces(), cuts, st.integers(1, 400), st.booleans(), st.data())
def test_a_reply_whose_tokens_are_known_is_continued_exactly(
    pieces: list[bytes], lost: list[float], grain: int, is_chat: bool, data: st.DataObject
) -> None:
    limit = data.draw(st.integers(1, len(pieces) + 2))
    options = data.draw(
        st.sampled_from([{}, USAGE, {"stream_options": {**USAGE["stream_options"], "continuous_usage_stats": True}}])
    )
    asked = data.draw(st.sampled_from([{}, {"return_token_ids": True}]))
    call = (chat if is_chat else completion)(max_tokens=limit, temperature=0, **options, **asked)
    per_event = data.draw(st.integers(1, 3))
    all_at_once, engine = DeterministicEngine(pieces), DeterministicEngine(pieces, per_event=per_event)
    meant = undisturbed(all_at_once, call)
    got = relayed(engine, call, cuts=lost, grain=grain)
    is_the_same(got, meant)
    if asked:
        assert engine.words(got.ids) == all_at_once.words(meant.ids)


@settings(max_examples=150)
@given(byte_pieces(), cuts, st.integers(2, 5), st.booleans())
def test_with_a_replica_to_ask_sampled_tokens_that_came_at_once_are_gone_on_from(
    pieces: list[bytes], lost: list[float], per_event: int, is_chat: bool
) -> None:
    call = (chat if is_chat else completion)(max_tokens=500, temperature=0.7, return_token_ids=True, **USAGE)
    meant = undisturbed(DeterministicEngine(pieces), call)
    engine = DeterministicEngine(pieces, per_event=per_event, can_say=True)
    got = relayed(engine, call, cuts=lost)
    assert got.text == meant.text
    by_tokens = [asked for asked in engine.calls if b'"prompt":[' in asked.body]
    if len(by_tokens) == got.continued:
        is_the_same(got, meant)
        assert engine.words(got.ids) == [*pieces, b""]


@pytest.mark.parametrize("cut", [0.3, 0.5, 0.7, 0.8])
def test_whoever_asked_for_token_ids_gets_those_of_half_characters_too(cut: float) -> None:
    engine = DeterministicEngine([b"a", b"b", b"\xc3", b"\xa9", b"c", b"\xe5", b"\xa5", b"\xbd"])
    got = relayed(engine, chat(max_tokens=50, temperature=0, return_token_ids=True), cuts=[cut])
    assert got.continued == 1
    assert engine.words(got.ids) == [*engine.pieces, b""]


@pytest.mark.parametrize("can_say", [True, False])
@pytest.mark.parametrize("temperature", [0, 0.7])
@pytest.mark.parametrize("bytes_per_token", [1, 2, 3])
@pytest.mark.parametrize("per_event", [1, 2, 3, 5])
def test_no_place_within_a_character_brings_the_prompt_into_the_reply(
    per_event: int, bytes_per_token: int, temperature: float, *, can_say: bool
) -> None:
    """vLLM repeats it when the tokens that it is to go on from end within a character, and says so only in its text."""
    pieces = [MANY_BYTES[at : at + bytes_per_token] for at in range(0, len(MANY_BYTES), bytes_per_token)]
    call = chat(max_tokens=500, temperature=temperature, return_token_ids=True, **USAGE)
    meant = undisturbed(DeterministicEngine(pieces), call)
    answer = DeterministicEngine(pieces, per_event=per_event).answer(Relay(call, token_ids=True).call)
    for place in (at + 2 for at in range(len(answer)) if answer.startswith(b"\n\n", at)):
        engine = DeterministicEngine(pieces, per_event=per_event, can_say=can_say)
        got = relayed(engine, call, cuts=[place / len(answer)])
        # Where the tokens would come out otherwise a second time, and nobody says which they are, the text is certain.
        is_exact = can_say or temperature == 0
        is_the_same(got, meant, with_usage=is_exact)
        if is_exact:
            assert engine.words(got.ids) == [*pieces, b""]


@settings(max_examples=150)
@given(whole_pieces(), cuts, st.integers(1, 400), st.booleans(), st.booleans())
def test_a_reply_whose_tokens_are_not_known_is_continued_by_its_text(
    pieces: list[bytes], lost: list[float], grain: int, is_chat: bool, with_usage: bool
) -> None:
    call = (chat if is_chat else completion)(**(USAGE if with_usage else {}))
    engine = DeterministicEngine(pieces, tells_ids=False)
    got = relayed(engine, call, cuts=lost, grain=grain)
    is_the_same(got, undisturbed(DeterministicEngine(pieces), call), with_usage=False)
    assert len(got.usage) == with_usage


@settings(max_examples=150)
@given(byte_pieces(), cuts, st.lists(words, min_size=1, max_size=3), st.booleans(), st.data())
def test_stop_strings_hold_over_a_joint(
    pieces: list[bytes], lost: list[float], stops: list[str], told: bool, data: st.DataObject
) -> None:
    temperature = data.draw(st.sampled_from([0, 0.7]))
    extra = {"include_stop_str_in_output": True} if told else {}
    call = chat(max_tokens=500, temperature=temperature, stop=stops, **extra, **USAGE)
    meant = undisturbed(DeterministicEngine(pieces), call)
    got = relayed(DeterministicEngine(pieces), call, cuts=lost)
    assert got.text == meant.text
    assert got.finish == meant.finish
    assert got.dones == 1


@given(byte_pieces(), cuts)
def test_after_the_first_word_a_chat_goes_on_from_its_tokens(pieces: list[bytes], lost: list[float]) -> None:
    engine = DeterministicEngine(pieces)
    relayed(engine, chat(max_tokens=500, temperature=0.7), cuts=lost)
    paths = [call.path for call in engine.calls]
    assert paths == sorted(paths, reverse=False) or set(paths) == {CallPath.CHAT}


@settings(max_examples=150)
@given(byte_pieces(), cuts, st.booleans())
def test_a_reply_under_a_schema_is_made_anew_and_its_head_not_told_twice(
    pieces: list[bytes], lost: list[float], tells_ids: bool
) -> None:
    call = chat(temperature=0, max_tokens=500, response_format={"type": "json_object"}, **USAGE)
    engine = DeterministicEngine(pieces, tells_ids=tells_ids)
    got = relayed(engine, call, cuts=lost)
    is_the_same(got, undisturbed(DeterministicEngine(pieces), call))
    assert all(again == engine.calls[0] for again in engine.calls)


@settings(max_examples=150)
@given(byte_pieces(), cuts, st.integers(1, 40))
def test_a_reply_is_never_longer_than_it_may_be(pieces: list[bytes], lost: list[float], limit: int) -> None:
    """Without token ids, what was told is counted by its events."""
    call = chat(max_tokens=limit, **USAGE)
    meant = undisturbed(DeterministicEngine(pieces), call)
    got = relayed(DeterministicEngine(pieces, tells_ids=False), call, cuts=lost)
    if not got.stuck:
        assert meant.text.startswith(got.text)


@settings(max_examples=150)
@given(byte_pieces(), cuts)
def test_a_chat_without_limit_is_exact_where_the_window_is_known(pieces: list[bytes], lost: list[float]) -> None:
    call = chat(**USAGE)
    meant = undisturbed(DeterministicEngine(pieces), call)
    engine = DeterministicEngine(pieces)
    is_the_same(relayed(engine, call, cuts=lost, window_tokens=4096), meant)
    by_text = relayed(DeterministicEngine(pieces), call, cuts=lost)
    is_the_same(by_text, meant, with_usage=False)
