"""Writes down which flags the `vllm serve` of an environment takes, as JSON: `DIR/bin/python vllm_recorder.py FILE`.

It runs in the engine's environment and imports nothing of ours. vLLM's own parser is asked, not its help text; what a
flag's type is shows what it makes of a few words.
"""

import argparse
import importlib
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

REFUSED = object()


def main(file: str) -> None:
    facts = flags(serve_parser())
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(fact)}" for name, fact in facts.items())
    head = f'  "engine": "vllm",\n  "version": {json.dumps(version("vllm"))},\n'
    Path(file).write_text(f'{{\n{head}  "flags": {{\n{lines}\n  }}\n}}\n', encoding="utf-8")


def serve_parser() -> Any:
    serve = importlib.import_module("vllm.entrypoints.cli.serve")
    parser = serve.FlexibleArgumentParser(prog="vllm")
    return serve.ServeSubcommand().subparser_init(parser.add_subparsers())


def flags(parser: Any) -> dict[str, dict[str, Any]]:
    facts = {}
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to tell what it takes
        names = [name[2:] for name in action.option_strings if name.startswith("--")]
        positive = [name for name in names if not (name.startswith("no-") and name[3:] in names)]
        if positive and action.dest not in ("help", "config"):
            facts[positive[0]] = fact_of(action, positive[1:], has_off=len(positive) < len(names))
    if "quantization" in facts and (known := quantisations()):
        facts["quantization"]["choices"] = known
    return dict(sorted(facts.items()))


def fact_of(action: Any, aliases: list[str], *, has_off: bool) -> dict[str, Any]:
    default = action.default
    fact = {
        "kind": kind_of(action),
        "choices": [str(choice) for choice in action.choices or ()],
        "default": plain(default),
        "aliases": aliases,
        "list": action.nargs in ("+", "*"),
        "off": has_off,
        "none": action.nargs != 0 and action.type is not None and makes(action.type, "None") is None,
    }
    return {key: value for key, value in fact.items() if value not in ([], None, False)}


def plain(default: Any) -> "str | None":
    """None for what only a program understands."""
    default = getattr(default, "value", default)
    is_plain = isinstance(default, (str, int, float)) and default != argparse.SUPPRESS
    return str(default) if is_plain else None


def kind_of(action: Any) -> str:
    if action.nargs == 0:
        return "switch"
    if action.type is None or makes(action.type, "a word") is not REFUSED:
        return "text or json" if action.type and isinstance(makes(action.type, '{"a": 1}'), dict) else "text"
    for word, kind in (("{}", "json"), ("0.5", "number"), ("auto", "size or auto"), ("1k", "size"), ("3", "integer")):
        if makes(action.type, word) is not REFUSED:
            return kind
    return "text"


def makes(type_: Any, word: str) -> Any:
    """What the flag's type makes of a word."""
    try:
        return type_(word)
    except (ValueError, TypeError, argparse.ArgumentTypeError):
        return REFUSED


def quantisations() -> list[str]:
    """The flag's own type takes any word; the engine refuses it later."""
    try:
        return list(importlib.import_module("vllm.model_executor.layers.quantization").QUANTIZATION_METHODS)
    except (ImportError, AttributeError):
        return []


if __name__ == "__main__":
    main(sys.argv[1])
