"""`python -m loadtests.beside`."""

import sys

from loadtests.beside.cli import main

if __name__ == "__main__":
    sys.exit(main())
