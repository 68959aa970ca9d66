"""Writing a vLLM profile: a new file, or the place of one that this command wrote before."""

from pathlib import Path

from gateway.cli.failure import CommandFailed
from router.fleet.domain.capacity import CapacityPlan
from router.fleet.domain.vllm_profile import MARK, profile_text


def write_profile(plan: CapacityPlan, path: Path) -> None:
    try:
        if path.exists() and not path.read_bytes().startswith(MARK.encode()):
            raise CommandFailed(
                f"{path} is no profile of this command and is left as it is", advice="name another file"
            )
        path.write_text(profile_text(plan), encoding="utf-8")
    except OSError as error:
        raise CommandFailed(f"{path} cannot be written: {error.strerror}") from error
