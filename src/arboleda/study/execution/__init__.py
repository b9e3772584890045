"""Jobs, the workers that run them, the ledger that keeps them, and their limits."""
