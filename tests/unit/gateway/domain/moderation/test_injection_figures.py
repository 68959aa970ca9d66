"""What the score promises, on texts that were held back: recall, and over-defence beside it, in both languages."""

import hashlib
import re
from pathlib import Path

import pytest

from gateway.domain.moderation.injection import InjectionScorer, Surface, Thresholds
from sessions.adapters.parsers import markdown
from sessions.domain.chunking import pieces
from tests.support.injection_figures import HALVES, SETS, figures, samples, table

LANGUAGES = ("en", "zh")

ROOT = Path(__file__).parents[5]


@pytest.mark.parametrize("half", HALVES)
def test_the_halves_are_parted_by_a_hash(half: str) -> None:
    assert {hashlib.sha256(each.text.encode()).digest()[0] % 2 for each in samples(half)} == {HALVES.index(half)}


def test_the_texts_are_many_and_each_is_there_once() -> None:
    texts = [each.text for half in HALVES for each in samples(half)]
    assert len(texts) == len(set(texts)) >= 400


@pytest.mark.parametrize("half", SETS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_four_of_five_attacks_are_caught(half: str, language: str) -> None:
    attacks = [each for each in samples(half) if each.is_attack and each.language == language]
    assert figures(attacks, Thresholds()).caught >= 0.8


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_attacks_of_each_kind_are_caught(language: str) -> None:
    attacks = [each for each in samples("held_back") if each.is_attack and each.language == language]
    for kind in {each.kind for each in attacks}:
        assert figures([each for each in attacks if each.kind == kind], Thresholds()).caught > 0.6, kind


@pytest.mark.parametrize("half", SETS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_ordinary_talk_is_hardly_ever_blocked_and_seldom_flagged(half: str, language: str) -> None:
    talk = figures([each for each in samples(half) if not each.is_attack and each.language == language], Thresholds())
    assert talk.blocked <= 0.03 * talk.total
    assert talk.flagged <= 0.12 * talk.total


def test_the_table_names_each_kind_and_the_sums() -> None:
    lines = table(samples("held_back"), Thresholds()).splitlines()
    assert len([line for line in lines if " all " in line]) == 4
    assert any(line.startswith("attack   zh   extraction") for line in lines)


def test_the_documents_that_the_readme_puts_into_a_base_are_let_in() -> None:
    named = re.search(r"knowledge add manual (.+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert named is not None
    scorer = InjectionScorer()
    for name in named[1].split():
        cut = pieces(
            markdown.blocks((ROOT / name).read_bytes(), 0),
            max_tokens=256,
            overlap_tokens=40,
            count=lambda t: len(t) // 4,
        )
        for piece in cut:
            score = scorer.score(f"{name}\n{piece.heading}\n{piece.text}", Surface.KNOWLEDGE)
            assert score.value < Thresholds().block, (name, score)
