"""`python -m loadtests.overhead`."""

import sys

from loadtests.overhead.cli import main

if __name__ == "__main__":
    sys.exit(main())
