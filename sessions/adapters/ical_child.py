"""The process that reads one calendar: bytes in, classes out as JSON, and nothing else within its reach.

`python -m sessions.adapters.ical_child CPU_S NOW DEFAULTS` reads standard input. Whatever a library trips over ends it
with another exit status than 0.
"""

import sys
from datetime import datetime

from pydantic import TypeAdapter

from sessions.adapters.ical_classes import read_ical
from sessions.adapters.parsers.child import confine
from sessions.domain.class_rows import ClassFile, RowDefaults

FILE = TypeAdapter(ClassFile)
DEFAULTS = TypeAdapter(RowDefaults)


def main() -> None:
    cpu_s, now, defaults = sys.argv[1:]
    confine(int(cpu_s))
    found = read_ical(sys.stdin.buffer.read(), DEFAULTS.validate_json(defaults), now=datetime.fromisoformat(now))
    sys.stdout.buffer.write(FILE.dump_json(found))


if __name__ == "__main__":
    main()
