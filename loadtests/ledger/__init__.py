"""The ledger of load drills: what was played, under which circumstances, and what came of it."""
