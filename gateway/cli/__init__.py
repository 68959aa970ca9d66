"""The `drillyard` command: one file per group of commands."""
