"""What an operator is told of an engine's log."""

from pathlib import Path

import pytest

from router.fleet.adapters.processes.last_words import last_words

VLLM = (
    "(EngineCore pid=7) ERROR 11-30 09:00:00 [core.py:1] torch.OutOfMemoryError: CUDA out of memory\n"
    "(APIServer pid=6) INFO 11-30 09:00:01 [launcher.py:1] no error here\n"
    "Traceback (most recent call last):\n"
    '  File "/x/serve.py", line 3, in main\n'
    "    raise RuntimeError('failed')\n"
    "RuntimeError: Engine core initialization failed. See root cause above.\n"
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (VLLM, "torch.OutOfMemoryError: CUDA out of memory"),
        ("loading\nOSError: [Errno 98] Address already in use\nbye\n", "OSError: [Errno 98] Address already in use"),
        ("one\n\x1b[31mtwo\x1b[0m\n\n", "two"),
        ("INFO 11-30 09:00:00 [a.py:1] nothing failed\n", "nothing failed"),
        ("", "it wrote nothing to its log"),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_the_line_that_tells_most_is_chosen(tmp_path: Path, text: str, words: str) -> None:
    log = tmp_path / "log"
    log.write_text(text)
    assert last_words(log) == words


def test_what_an_earlier_run_wrote_is_not_told(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("FATAL: the first\nquiet\n")
    assert last_words(log, since=17) == "quiet"


def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert last_words(tmp_path / "log") == "it wrote nothing to its log"
