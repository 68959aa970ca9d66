"""What an answer, a summary and a question may take of a window."""

from sessions.domain.answer_shares import AnswerShares


def test_what_is_asked_for_is_given_where_there_is_room() -> None:
    shares = AnswerShares(window=4096, answer=400, summary=240, question=512, background=1200)
    assert (shares.most_answer, shares.most_summary, shares.most_question) == (400, 240, 512)


def test_in_a_small_window_each_takes_its_part() -> None:
    shares = AnswerShares(window=512, answer=400, summary=240, question=512, background=1200)
    assert (shares.most_answer, shares.most_summary, shares.most_question) == (128, 64, 128)
