from gateway.cli.printable import printable


def test_words_and_layout_stay() -> None:
    assert printable("你好,\n\tthere…") == "你好,\n\tthere…"


def test_escape_sequences_lose_what_makes_them_so() -> None:
    assert printable("\x1b[2J\x9b31m\x07red\r\x00\x7f") == "[2J31mred"
