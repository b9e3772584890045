"""The page of an exploration of a table."""
