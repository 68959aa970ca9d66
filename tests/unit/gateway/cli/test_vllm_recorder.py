import argparse
import json
from typing import Any

import pytest

from gateway.cli.vllm_recorder import flags, kind_of


def optional(type_: Any) -> Any:
    """As vLLM makes the types of what may be None."""
    return lambda word: None if word in ("", "None") else type_(word)


def size(word: str) -> int:
    return 1000 if word == "1k" else int(word)


def size_or_auto(word: str) -> int:
    return -1 if word == "auto" else size(word)


def text_or_table(word: str) -> Any:
    return json.loads(word) if word.startswith("{") else word


@pytest.fixture
def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("model_tag", nargs="?")
    parser.add_argument("--config")
    parser.add_argument("--headless", action="store_true")
    parser.add_argument("--caching", "--prefix-caching", "-c", action=argparse.BooleanOptionalAction, default=None)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--queued", type=optional(int), default=None)
    parser.add_argument("--share", "--device-share", type=float, default=0.9)
    parser.add_argument("--dtype", choices=["auto", "half"], default="auto")
    parser.add_argument("--keys", nargs="+", type=optional(str), default=argparse.SUPPRESS)
    parser.add_argument("--batched", type=size, default=None)
    parser.add_argument("--window", type=size_or_auto)
    parser.add_argument("--table", type=json.loads, default={"a": 1})
    parser.add_argument("--overrides", type=text_or_table)
    parser.add_argument("--quantization", type=optional(str))
    return parser


def test_each_flag_is_told_by_what_its_type_makes_of_words(parser: argparse.ArgumentParser) -> None:
    told = flags(parser)
    assert told == {
        "batched": {"kind": "size"},
        "caching": {"kind": "switch", "aliases": ["prefix-caching"], "off": True},
        "dtype": {"kind": "text", "choices": ["auto", "half"], "default": "auto"},
        "headless": {"kind": "switch", "default": "False"},
        "keys": {"kind": "text", "list": True, "none": True},
        "overrides": {"kind": "text or json"},
        "port": {"kind": "integer", "default": "8000"},
        "quantization": {"kind": "text", "none": True},
        "queued": {"kind": "integer", "none": True},
        "share": {"kind": "number", "default": "0.9", "aliases": ["device-share"]},
        "table": {"kind": "json"},
        "window": {"kind": "size or auto"},
    }


def test_a_type_that_takes_none_of_the_words_is_a_text(parser: argparse.ArgumentParser) -> None:
    def refuses(word: str) -> str:
        raise argparse.ArgumentTypeError(word)

    assert kind_of(parser.add_argument("--odd", type=refuses)) == "text"
