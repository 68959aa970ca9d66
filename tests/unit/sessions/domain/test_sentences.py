"""Texts are cut where people end a sentence."""

from sessions.domain.sentences import sentences


def test_sentences_end_where_people_end_them() -> None:
    assert sentences("It is 48213-B. He said “yes!” 你好。她说“好。”再见；走了\n3.5 kg, ok?") == [
        *("It is 48213-B.", "He said “yes!”", "你好。", "她说“好。”", "再见；", "走了", "3.5 kg, ok?"),
    ]


def test_nothing_has_no_sentence() -> None:
    assert sentences(" \n\n ") == []
