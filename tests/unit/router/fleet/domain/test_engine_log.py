import pytest

from router.fleet.domain.engine_log import short, telling_line

VLLM = (
    "(EngineCore pid=7) ERROR 11-30 09:00:00 [core.py:1] torch.OutOfMemoryError: CUDA out of memory\n"
    "(APIServer pid=6) INFO 11-30 09:00:01 [launcher.py:1] no error here\n"
    "Traceback (most recent call last):\n"
    '  File "/x/serve.py", line 3, in main\n'
    "    raise RuntimeError('failed')\n"
    "RuntimeError: Engine core initialization failed. See root cause above.\n"
)


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (VLLM, "torch.OutOfMemoryError: CUDA out of memory"),
        (VLLM.splitlines()[-1], "RuntimeError: Engine core initialization failed. See root cause above."),
        ("ERROR: first\nquiet\n", "ERROR: first"),
        ("one\n\x1b[31mtwo\x1b[0m\n\n", "two"),
        ("INFO 11-30 09:00:00 [a.py:1] nothing failed\n", "nothing failed"),
        ("    a quoted line\n", ""),
        ("", ""),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_the_line_that_tells_most_is_chosen(log: str, line: str) -> None:
    assert telling_line(log) == line


def test_a_short_line_is_shown_without_what_steers_a_terminal() -> None:
    assert short(" a\x1b[2Jb\u200b ") == "a[2Jb"
