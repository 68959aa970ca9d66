"""Words of both languages, and a dictionary that is loaded when it is needed."""

import subprocess
import sys

import pytest

from sessions.adapters.word_cutter import WordCutter
from sessions.domain.terms import terms


def found(text: str) -> list[str]:
    return terms(text, WordCutter().language())


@pytest.mark.parametrize(("one", "other"), [("refunds", "refund"), ("cancelled", "cancel"), ("deliveries", "delivery")])
def test_forms_of_an_english_word_are_one_term(one: str, other: str) -> None:
    assert found(one) == found(other)


def test_chinese_is_cut_into_words_and_the_words_in_them() -> None:
    assert found("退货的运费由客户承担") == ["退货", "运费", "客户", "承担"]
    assert {"保修", "保修期"} <= set(found("保修期二十四个月"))


def test_a_code_in_a_chinese_sentence_is_whole() -> None:
    assert "e42" in found("屏幕显示E-42怎么办")


def test_without_chinese_no_chinese_word_is_found() -> None:
    assert terms("the batteries 电池", WordCutter().language_without_chinese()) == ["batteri"]


def test_a_process_that_searches_no_chinese_never_loads_the_dictionary_and_nothing_is_printed() -> None:
    program = (
        "import sys\n"
        "from sessions.adapters.word_cutter import WordCutter\n"
        "from sessions.domain.terms import terms\n"
        "cutter = WordCutter()\n"
        "assert terms('two words', cutter.language()) == ['two', 'word']\n"
        "assert terms('两个词语', cutter.language_without_chinese()) == []\n"
        "assert 'rjieba' not in sys.modules\n"
        "assert terms('两个词语', cutter.language())\n"
        "assert 'rjieba' in sys.modules\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
