"""`python -m loadtests.continuity`: see its `--help`."""

from loadtests.continuity.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
