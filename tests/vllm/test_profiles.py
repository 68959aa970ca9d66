"""What is said of vLLM's flags, held against the parser of the vLLM that is installed. No engine is started."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from gateway.cli.engine_facts import bundled_facts, facts_of_environment
from gateway.local.cache import cache_folder
from gateway.local.children import Children
from gateway.local.hardware import gpus
from gateway.local.progress import Progress
from gateway.local.stack import LISTS
from gateway.local.vllm_environment import VERSION, Installer, vllm_environment
from router.fleet.domain.vllm_advice import Surroundings, check
from router.fleet.domain.vllm_flags import FlagValue
from router.fleet.domain.vllm_options import DraftModel, Ngram, SchedulingPolicy, VllmOptions, flags_of, yaml_lines

pytestmark = pytest.mark.vllm

ROOT = Path(__file__).parents[2]
PARSES = """\
import json, sys
from vllm.entrypoints.cli import serve
parser = serve.FlexibleArgumentParser(prog="vllm")
serve.ServeSubcommand().subparser_init(parser.add_subparsers())
told = {}
for file in sys.argv[2:]:
    try:
        parsed = parser.parse_args(["serve", "MODEL", "--config", file])
        told[file] = {"max_model_len": parsed.max_model_len, "caching": parsed.enable_prefix_caching}
    except (SystemExit, Exception):
        told[file] = None
json.dump(told, open(sys.argv[1], "w"))
"""
WHOLE = VllmOptions(
    max_model_len=4096,
    max_num_seqs=8,
    max_num_batched_tokens=4096,
    max_num_queued_reqs=16,
    max_num_queued_tokens=65_536,
    kv_cache_dtype="fp8",
    enable_prefix_caching=True,
    enable_chunked_prefill=False,
    enable_prompt_tokens_details=True,
    scheduling_policy=SchedulingPolicy.PRIORITY,
    shutdown_timeout=60,
    dtype="bfloat16",
    block_size=32,
    gpu_memory_utilization=0.9,
    enforce_eager=True,
    quantization="fp8",
    speculation=DraftModel("/models/a draft: 1", 4),
    others={"compilation-config": {"mode": 3}, "async-scheduling": False},
)
WRONG: tuple[dict[str, FlagValue], ...] = (
    {"enable-prefix-cachng": True},
    {"dtype": "bf16"},
    {"max-num-seqs": "many"},
    {"max-num-seqs": True},
    {"max-num-seqs": None},
    {"max-num-batched-tokens": "1.5K"},
    {"enable-prefix-caching": "yes, please"},
    {"kv-cache-dtype": "int8"},
    {"compilation-config": "{mode: 3}"},
    {"gpu-memory-utilization": "high"},
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder, children = tmp_path_factory.mktemp("profiles"), Children()
    installer = Installer(
        lists=LISTS,
        cache=cache_folder(folder),
        logs=folder / "logs",
        children=children,
        progress=Progress(console=Console()),
    )
    yield vllm_environment(installer, gpu=bool(gpus()))
    children.stop_all()


def test_the_bundled_flags_are_those_of_the_engine(environment: Path) -> None:
    bundled = bundled_facts(VERSION)
    assert facts_of_environment(environment) == bundled
    assert bundled.version == VERSION


def test_vllm_takes_and_refuses_what_we_say_it_does(environment: Path, tmp_path: Path) -> None:
    good = sorted((ROOT / "deploy" / "vllm").glob("*.yaml"))
    for number, options in enumerate((WHOLE, VllmOptions(max_model_len=-1, speculation=Ngram(4)), VllmOptions())):
        good.append(tmp_path / f"good-{number}.yaml")
        good[-1].write_text(yaml_lines(flags_of(options)))
    bad = [tmp_path / f"bad-{number}.yaml" for number in range(len(WRONG))]
    for file, flags in zip(bad, WRONG, strict=True):
        file.write_text(yaml_lines(flags))
        assert check(flags, bundled_facts(VERSION), Surroundings()).errors == 1
    record = tmp_path / "told.json"
    command = [str(environment / "bin" / "python"), "-I", "-c", PARSES, *(str(file) for file in (record, *good, *bad))]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=180, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    told = json.loads(record.read_text())
    assert [file.name for file in good if told[str(file)] is None] == []
    assert [file.name for file in bad if told[str(file)] is not None] == []
    assert told[str(good[0])] == {"max_model_len": 4096, "caching": True}
