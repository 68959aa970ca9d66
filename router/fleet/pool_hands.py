"""Has one pool's decisions done: the ledger is told first, and then the world, so that the next leader goes on."""
