from datetime import timedelta

import pytest

from gateway.cli.failure import CommandFailed
from gateway.cli.key_lifetime import lifetime


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("45m", timedelta(minutes=45)),
        ("12h", timedelta(hours=12)),
        (" 90D ", timedelta(days=90)),
        ("8w", timedelta(weeks=8)),
        ("3650d", timedelta(days=3650)),
    ],
)
def test_a_lifetime_is_a_number_and_a_unit(written: str, expected: timedelta) -> None:
    assert lifetime(written) == expected


@pytest.mark.parametrize(
    "written", ["", "90", "d", "0d", "-1d", "1.5h", "3651d", "999999w", "9999999d", "٣d", "1y", "1d 2h"]
)
def test_what_is_no_lifetime_is_refused(written: str) -> None:
    with pytest.raises(CommandFailed, match="90d"):
        lifetime(written)
