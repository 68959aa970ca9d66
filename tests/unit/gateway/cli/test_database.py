import json
from pathlib import Path

import pytest

from gateway.cli.database import database_url
from gateway.cli.failure import CommandFailed

URL = "postgresql://me:hush@127.0.0.1/x"


def test_the_url_given_comes_before_the_running_stack(tmp_path: Path) -> None:
    (tmp_path / "ready.json").write_text(json.dumps({"base_url": "http://h", "database_url": "postgresql://other@h/x"}))
    assert database_url(URL, data=tmp_path) == URL
    assert database_url(None, data=tmp_path) == "postgresql://other@h/x"


def test_without_any_the_variable_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandFailed, match="DRILLYARD_DATABASE_URL"):
        database_url(None, data=tmp_path)
    with pytest.raises(CommandFailed, match="DRILLYARD_DATABASE_URL"):
        database_url("", data=tmp_path)


@pytest.mark.parametrize("url", ["mysql://me:hush@h/x", "hush", "postgresql://"])
def test_what_is_no_address_of_postgres_is_refused_unrepeated(url: str, tmp_path: Path) -> None:
    with pytest.raises(CommandFailed) as refused:
        database_url(url, data=tmp_path)
    assert "hush" not in str(refused.value)
