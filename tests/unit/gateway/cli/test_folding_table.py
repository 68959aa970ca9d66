from io import StringIO
from uuid import uuid4

from rich.console import Console

from gateway.cli.folding_table import folding_table


def test_nothing_of_a_long_cell_is_cut_off() -> None:
    table, key = folding_table("id", "name"), str(uuid4())
    table.add_row(key, "words")
    Console(file=(out := StringIO()), width=20).print(table)
    assert key in "".join(line[1:].split("│")[0].strip() for line in out.getvalue().splitlines())
