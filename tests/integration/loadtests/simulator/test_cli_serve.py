"""`drillyard sim serve` refuses what cannot be, and carries out what its flags say."""

import httpx
import pytest
from typer.testing import CliRunner

from loadtests.simulator.cli import app
from tests.support.simulator_process import simulator


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["--profile", "nothing"], "neither a readable file nor one of"),
        (["--num-gpu-blocks-override", "10"], "less than one window of 4096"),
        (["--script", __file__], "drillyard sim"),
        (["--scheduling-policy", "lottery"], "lottery"),
    ],
)
def test_what_cannot_be_served_is_refused_with_the_reason(flags: list[str], complaint: str) -> None:
    refused = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["serve", "--port", "0", *flags])
    assert refused.exit_code != 0
    assert complaint in refused.output


def test_the_flags_are_carried_out() -> None:
    flags = ("--max-model-len", "1024", "--served-model-name", "tutor", "--num-gpu-blocks-override", "64")
    with simulator(*flags, "--api-key", "secret") as replica:
        assert replica.client.get("/v1/models").status_code == httpx.codes.UNAUTHORIZED
        cards = replica.client.get("/v1/models", headers={"Authorization": "Bearer secret"}).json()["data"]
        metrics = replica.client.get("/metrics").text
    assert [(card["id"], card["max_model_len"]) for card in cards] == [("tutor", 1024)]
    assert cards[0]["root"].startswith("simulated:")
    assert 'num_gpu_blocks="64"' in metrics
