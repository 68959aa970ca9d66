"""Tables whose cells go on in the next line where a terminal is narrow, since nothing of an id may be cut off."""

from rich.table import Table


def folding_table(*headings: str) -> Table:
    table = Table()
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
