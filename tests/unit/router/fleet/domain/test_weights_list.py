"""A list of weights is one text with one digest, and names nothing outside its folder."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from router.fleet.domain.weights_list import (
    MOST_FILES,
    WeightsFile,
    in_words,
    is_listed,
    parsed_list,
    weights_list,
)
from router.fleet.errors import WeightsUnusable

A, B = "a" * 64, "b" * 64
NAMES = st.text(st.characters(categories=["Lu", "Ll", "Nd"]), min_size=1, max_size=8)
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


def files(*paths: str) -> list[WeightsFile]:
    return [WeightsFile(path, A) for path in paths]


def test_the_text_is_that_of_sha256sum_by_path_and_the_digest_is_the_texts() -> None:
    listed = weights_list([WeightsFile("model.safetensors", B, 7), WeightsFile("config.json", A)])
    assert listed.text == f"{A}  config.json\n{B}  model.safetensors\n"
    assert listed.digest == "sha256:" + hashlib.sha256(listed.text.encode()).hexdigest()


def test_sizes_are_no_part_of_the_digest() -> None:
    assert weights_list([WeightsFile("a", A, 1)]).digest == weights_list([WeightsFile("a", A)]).digest


@given(paths=st.lists(PATHS, min_size=1, unique=True))
def test_a_list_comes_back_from_its_text_in_whatever_order_it_was_made(paths: list[str]) -> None:
    try:
        listed = weights_list(files(*paths))
    except WeightsUnusable:
        return
    assert parsed_list(listed.text) == listed == weights_list(files(*reversed(paths)))


def test_what_sha256sum_may_write_is_understood() -> None:
    assert parsed_list(f"{A} *./sub/a b.bin\r\n\n{B}  c\r\n").files == (
        WeightsFile("c", B),
        WeightsFile("sub/a b.bin", A),
    )


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("../secret", "not inside"),
        ("a/../../secret", "not inside"),
        ("/etc/passwd", "not inside"),
        ("a//b", "not inside"),
        ("a/.", "not inside"),
        ("a/", "not inside"),
        ("", "not inside"),
        ("a\\b", "no path"),
        ("a\x00b", "no path"),
        ("x" * 1001, "no path"),
        (".weights.json", "hidden"),
        ("a/.b/c", "hidden"),
        ("SHA256SUMS", "hidden"),
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(path: str, reason: str) -> None:
    with pytest.raises(WeightsUnusable, match=reason):
        weights_list(files("config.json", path))


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        ((), "names no file"),
        (("a", "a"), "names a twice"),
        (("a", "a/b"), "names a as a file and as a folder"),
        (("x/a", "x/a b", "x/a/b/c"), "names x/a as a file and as a folder"),
        (tuple(f"{number}" for number in range(MOST_FILES + 1)), "more than"),
    ],
)
def test_what_cannot_stand_in_one_folder_is_refused(paths: tuple[str, ...], reason: str) -> None:
    with pytest.raises(WeightsUnusable, match=reason):
        weights_list(files(*paths))


@pytest.mark.parametrize("digest", ["", A[:-1], A.upper(), f"../{A[3:]}"])
def test_what_is_no_digest_is_refused(digest: str) -> None:
    with pytest.raises(WeightsUnusable, match="what is no SHA-256 digest"):
        weights_list([WeightsFile("config.json", digest)])


@pytest.mark.parametrize("line", ["<html>", A, f"{A[:-1]}  a", f"{A.upper()}  a", f"\\{A}  a"])
def test_a_line_that_is_none_is_named(line: str) -> None:
    with pytest.raises(WeightsUnusable, match="line 2"):
        parsed_list(f"{A}  config.json\n{line}\n")


def test_hidden_files_and_the_list_itself_stay_out() -> None:
    assert is_listed("a/b.json")
    assert not any(map(is_listed, ("SHA256SUMS", ".gitattributes", "a/.cache/b", ".weights.json")))


@pytest.mark.parametrize(
    ("done", "total", "words"),
    [
        (0, 0, "0 of 0 B"),
        (5, 900, "5 of 900 B"),
        (512, 2048, "0.5 of 2.0 KiB"),
        (int(3.1 * 2**30), int(14.2 * 2**30), "3.1 of 14.2 GiB"),
        (0, 2**70, "0.0 of 1073741824.0 TiB"),
    ],
)
def test_progress_is_told_in_the_unit_of_the_whole(done: int, total: int, words: str) -> None:
    assert in_words(done, total) == words
