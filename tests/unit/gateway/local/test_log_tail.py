from pathlib import Path

import pytest

from gateway.local.log_tail import end_of, last_line, last_meaningful_line, tells_of_a_full_disk


def log_of(folder: Path, text: str) -> Path:
    file = folder / "a.log"
    file.write_text(text)
    return file


def test_the_last_line_that_speaks_of_a_failure_is_chosen(tmp_path: Path) -> None:
    log = log_of(tmp_path, "starting\nValueError: the window is too long\nshutting down\n\n")
    assert last_meaningful_line(log) == "ValueError: the window is too long"


def test_a_line_that_only_points_to_another_is_passed_over(tmp_path: Path) -> None:
    text = (
        "ValueError: the window is too long\nRuntimeError: Engine core initialization failed. See root cause above.\n"
    )
    assert last_meaningful_line(log_of(tmp_path, text)) == "ValueError: the window is too long"


def test_without_any_failure_the_last_line_is_taken(tmp_path: Path) -> None:
    assert last_meaningful_line(log_of(tmp_path, "one\ntwo\n")) == "two"


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_log_is_said_to_be_empty(tmp_path: Path, text: str) -> None:
    assert "wrote nothing" in last_meaningful_line(log_of(tmp_path, text))


def test_a_log_that_is_not_there_is_said_to_be_empty(tmp_path: Path) -> None:
    assert "wrote nothing" in last_meaningful_line(tmp_path / "none")
    assert last_line(tmp_path / "none") == ""


def test_colours_and_overlong_lines_are_cut(tmp_path: Path) -> None:
    line = last_meaningful_line(log_of(tmp_path, "\x1b[31mERROR\x1b[0m " + "x" * 1000))
    assert line.startswith("ERROR x")
    assert len(line) == 300


def test_the_last_line_is_what_was_said_last(tmp_path: Path) -> None:
    assert last_line(log_of(tmp_path, "ERROR\nCollecting numpy\n")) == "Collecting numpy"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"phase": "warming_up", "event": "replica is loading", "level": "info", "timestamp": "2026"}',
         "replica is loading, phase warming_up"),
        ('{"event": "ready", "timestamp": "2026"}', "ready"),
        ('["two words"]', '["two words"]'),
        ('{"two words": 1}', '{"two words": 1}'),
        ('{"event": "torn', '{"event": "torn'),
    ],
)  # fmt: skip
def test_of_a_line_of_ours_the_event_is_told_and_what_belongs_to_it(tmp_path: Path, line: str, told: str) -> None:
    assert last_line(log_of(tmp_path, line + "\n")) == told


def test_what_an_earlier_run_wrote_is_not_this_ones_failure(tmp_path: Path) -> None:
    earlier = "OSError: No space left on device\n"
    log = log_of(tmp_path, earlier + "FATAL: another reason\n")
    assert tells_of_a_full_disk(log)
    assert not tells_of_a_full_disk(log, since=len(earlier))
    assert last_meaningful_line(log_of(tmp_path, earlier), since=len(earlier)) == "it wrote nothing to its log"


VLLM_KILLED_WHILE_LOADING = """\
(APIServer pid=11) WARNING 11-29 14:38:55 [system_utils.py:255] Consider this, or `OSError: too many files` may come
(APIServer pid=11) Traceback (most recent call last):
(APIServer pid=11)   File "/env/bin/vllm", line 10, in <module>
(APIServer pid=11)     sys.exit(main())
(APIServer pid=11)              ^^^^^^
(APIServer pid=11)   File "/env/lib/vllm/v1/engine/utils.py", line 974, in wait_for_engine_startup
(APIServer pid=11)     raise RuntimeError(
(APIServer pid=11) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'a': -9}
"""
ITS_REASON = "(EngineCore pid=12) ERROR 11-29 14:39:01 [core.py:1100] ValueError: no room for the cache\n"


def test_the_exception_of_a_traceback_is_chosen_and_not_the_source_it_quotes(tmp_path: Path) -> None:
    log = log_of(tmp_path, VLLM_KILLED_WHILE_LOADING)
    assert last_meaningful_line(log).startswith("RuntimeError: Engine core initialization failed")
    log = log_of(tmp_path, ITS_REASON + VLLM_KILLED_WHILE_LOADING)
    assert last_meaningful_line(log) == "ValueError: no room for the cache"


def test_a_refused_setting_is_told_with_what_is_wrong_about_it(tmp_path: Path) -> None:
    text = (
        "pydantic_core.ValidationError: 1 validation error for ModelConfig\n"
        "  Value error, the window is too long [type=value_error]\n"
        "    For further information visit the pages\n"
    )
    assert last_meaningful_line(log_of(tmp_path, text)) == "Value error, the window is too long [type=value_error]"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "(EngineCore pid=12) INFO 11-29 14:39:16 [model.py:733] Resolved architecture: Llama",
            "Resolved architecture: Llama",
        ),
        ("INFO 11-29 14:39:16 [model.py:733] Using max model len", "Using max model len"),
        ("W1129 14:38:54.156000 153 torch/_library/triton.py:53] Triton not available", "Triton not available"),
        ("(Worker_TP0 pid=9) Loading weights", "Loading weights"),
        ("(APIServer pid=1) INFO 11-29 14:38:55 [api_utils.py:347]   █▄█▀ █     █", "before that"),
        ("reserved_cpus=[]", "before that"),
        ("Collecting numpy (from vllm)", "Collecting numpy (from vllm)"),
    ],
)
def test_what_a_program_does_is_shown_in_its_words_alone(tmp_path: Path, line: str, words: str) -> None:
    assert last_line(log_of(tmp_path, f"before that\n{line}\n")) == words


def test_only_what_is_written_from_now_on_is_shown(tmp_path: Path) -> None:
    log = log_of(tmp_path, "the end of the last run\n")
    since = end_of(log)
    assert last_line(log, since=since) == ""
    with log.open("a") as out:
        out.write("loading it\n")
    assert last_line(log, since=since) == "loading it"
    assert end_of(tmp_path / "none") == 0
